/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * Rows from Matrix Market and libsvm files, read by the executors: a file is cut into splits, every
 * split is parsed once by the reader of {@code io.sparqr.matrix}, and all errors in the file are
 * found before the first row is used. The driver never holds a row.
 */
@NullMarked
package io.sparqr.spark.file;

import org.jspecify.annotations.NullMarked;
