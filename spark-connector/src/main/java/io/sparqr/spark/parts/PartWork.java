/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.parts;

import java.io.Serializable;
import java.util.Iterator;

/**
 * The function applied to a partition.
 *
 * @param <T> element before
 * @param <U> element after
 */
@FunctionalInterface
public interface PartWork<T, U> extends Serializable {
  Iterator<U> of(int partition, Iterator<T> elements);
}
