/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** Plain values that callers hand in and get back: rows of A, R, constraints, dependent columns. */
@NullMarked
package io.sparqr.spark.model;

import org.jspecify.annotations.NullMarked;
