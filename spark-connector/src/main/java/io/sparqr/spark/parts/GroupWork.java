/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.parts;

import java.io.Serializable;
import java.util.Iterator;
import java.util.List;
import java.util.function.Supplier;

/**
 * The function applied to several partitions, which one task reads one after the other.
 *
 * @param <T> element before
 * @param <U> element after
 */
@FunctionalInterface
public interface GroupWork<T, U> extends Serializable {

  /**
   * Makes a partition.
   *
   * @param members the elements of each member, read when they are asked for, once
   * @param given the frame of each member
   */
  Iterator<U> of(List<Supplier<Iterator<T>>> members, List<byte[]> given);
}
