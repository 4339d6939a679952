/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * The command line: {@code sparqr solve}, {@code analyze}, {@code regress}, {@code generate}. Reads
 * files or the gallery into rows, calls the public API of {@link io.sparqr.spark}, and writes the
 * results and the report. Nothing else may depend on it.
 */
@NullMarked
package io.sparqr.spark.cli;

import org.jspecify.annotations.NullMarked;
