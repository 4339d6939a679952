/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.parts;

import java.io.Serializable;
import java.util.Iterator;

/**
 * What a pass does with a partition.
 *
 * @param <T> element
 * @param <F> figures
 * @param <V> table
 */
@FunctionalInterface
public interface PassWork<T, F extends Record & OfPartition, V> extends Serializable {
  Found<F, V> of(int partition, Iterator<T> elements);
}
