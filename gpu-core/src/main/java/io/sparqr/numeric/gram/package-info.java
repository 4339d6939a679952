/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * Fronts by their Gram matrix: R of a front with many sparse rows from F'F, measured against the
 * rows before it is used, corrected where that takes little, and refused where reflectors would be
 * better.
 */
@NullMarked
package io.sparqr.numeric.gram;

import org.jspecify.annotations.NullMarked;
