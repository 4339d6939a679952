/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.design.level;

import java.io.Serializable;

/**
 * The columns of an absorbed factor's dummies in a design.
 *
 * @param first its first column
 * @param columns number of columns; the reference level, if any, has none
 * @param name as in a formula
 * @param levels number of levels, the reference level included
 * @param key which of the rows' keys names their level; -1: their column does, and no other level
 *     than the reference level is without one
 */
public record AbsorbedFactor(int first, int columns, String name, int levels, int key)
    implements Serializable {}
