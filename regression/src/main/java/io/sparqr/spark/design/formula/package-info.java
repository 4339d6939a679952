/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** Formulas in the language of R, and the names that stand in them. */
@NullMarked
package io.sparqr.spark.design.formula;

import org.jspecify.annotations.NullMarked;
