/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.pattern;

import java.io.Serializable;

/**
 * The right-hand sides of the rows.
 *
 * @param count their number, or -1 without rows
 * @param max largest absolute value of each; empty without rows of positive weight
 */
public record RightHandSides(int count, double[] max) implements Serializable {}
