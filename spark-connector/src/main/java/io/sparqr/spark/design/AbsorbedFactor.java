/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.design;

import java.io.Serializable;

/**
 * Where an absorbed factor's dummies are in a design.
 *
 * @param first its first column
 * @param columns how many there are; the reference level, if there is one, has none
 */
public record AbsorbedFactor(int first, int columns) implements Serializable {}
