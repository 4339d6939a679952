/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.parts;

import java.io.Serializable;
import java.util.function.Predicate;

/**
 * Whether an element can be used.
 *
 * @param <T> element
 */
@FunctionalInterface
public interface Usable<T> extends Predicate<T>, Serializable {}
