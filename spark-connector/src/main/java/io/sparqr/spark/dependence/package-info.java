/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * Dependent columns: the null space from R, the choice of the columns to drop by the user's rules,
 * and the resulting changes in solutions and errors. An internal package of the connector, not for
 * callers; it may change without notice.
 */
@NullMarked
package io.sparqr.spark.dependence;

import org.jspecify.annotations.NullMarked;
