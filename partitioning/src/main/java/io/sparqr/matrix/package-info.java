/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * Matrices from files and from formulas, in one JVM: Matrix Market and libsvm files, the gallery of
 * generated problems, the default right-hand side. The result is always a {@link
 * io.sparqr.sparse.CsrMatrix} or a {@link io.sparqr.matrix.DenseMatrix}; nothing here knows Spark.
 */
@NullMarked
package io.sparqr.matrix;

import org.jspecify.annotations.NullMarked;
