/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * Rows of A from raw arrays in files, as another process on the driver's machine wrote them, and R
 * back the same way: nothing goes entry by entry.
 */
package io.sparqr.spark.arrays;
