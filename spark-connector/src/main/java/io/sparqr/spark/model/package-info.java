/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** Plain values that callers hand in and get back: rows of A, R, constraints, dependent columns. */
package io.sparqr.spark.model;
