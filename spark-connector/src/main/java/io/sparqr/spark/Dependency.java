/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import java.io.Serializable;

/**
 * What a dependent column is made of: column = sum of coefficients[i] times column on[i], to
 * rounding, in the caller's units.
 *
 * @param column that was dropped
 * @param on columns that stay, ascending
 * @param coefficients the same length
 */
public record Dependency(int column, int[] on, double[] coefficients) implements Serializable {}
