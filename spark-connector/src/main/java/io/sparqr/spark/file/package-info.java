/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * Rows from Matrix Market and libsvm files, read by the executors: a file is cut into splits, every
 * split is parsed once by the reader of {@code io.sparqr.matrix}, and what is wrong with the file
 * is found before the first row is used. No row is ever on the driver.
 */
package io.sparqr.spark.file;
