/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.parts;

import java.io.Serializable;
import java.util.Iterator;

/**
 * Makes a partition by its number.
 *
 * @param <T> element
 */
@FunctionalInterface
public interface PartSource<T> extends Serializable {
  Iterator<T> of(int partition);
}
