/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * Rows of A from raw arrays in files written by another process on the driver's machine, and R
 * written in the same form: in bulk, never entry by entry. A partition begins to read at the place
 * of its first row, and Python needs NumPy alone. Arrow's files would do neither, and take about
 * twice as long to write (benchmarks/history/2026-11-27-arrow.txt).
 */
@NullMarked
package io.sparqr.spark.arrays;

import org.jspecify.annotations.NullMarked;
