/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.parts;

import java.io.Serializable;
import java.util.Iterator;

/**
 * The function applied to a partition and what is given for it.
 *
 * @param <T> element before
 * @param <V> what is given
 * @param <U> element after
 */
@FunctionalInterface
public interface GivenWork<T, V extends Serializable, U> extends Serializable {
  Iterator<U> of(Iterator<T> elements, V given);
}
