/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * Rows of A from raw arrays in files written by another process on the driver's machine, and R
 * written in the same form: in bulk, never entry by entry.
 */
package io.sparqr.spark.arrays;
