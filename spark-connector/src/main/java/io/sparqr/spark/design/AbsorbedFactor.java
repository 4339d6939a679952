/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.design;

import java.io.Serializable;

/**
 * Where an absorbed factor's dummies are in a design.
 *
 * @param first its first column
 * @param columns how many there are
 * @param levels as many, or one more: that of the reference has no column
 */
public record AbsorbedFactor(int first, int columns, int levels) implements Serializable {}
