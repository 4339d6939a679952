/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * Checks of factorizations: sums over rows that an orthogonal transformation preserves, over a
 * task's input and over its output.
 */
@NullMarked
package io.sparqr.numeric.integrity;

import org.jspecify.annotations.NullMarked;
