/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** Formulas in the language of R, and the names that stand in them. */
package io.sparqr.spark.design.formula;
