/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * How close R is to a singular matrix: its smallest singular values with their vectors, the columns
 * that are nearly dependent, and how far the norm of a residual can be believed without measuring
 * it. Uses solves with R, wherever R is. An internal package of the connector, not for callers; it
 * may change without notice.
 */
@NullMarked
package io.sparqr.spark.condition;

import org.jspecify.annotations.NullMarked;
