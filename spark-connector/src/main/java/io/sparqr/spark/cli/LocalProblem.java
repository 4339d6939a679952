/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import io.sparqr.matrix.DefaultRightHandSide;
import io.sparqr.matrix.DenseMatrix;
import io.sparqr.matrix.Gallery;
import io.sparqr.matrix.LabeledMatrix;
import io.sparqr.matrix.Libsvm;
import io.sparqr.matrix.MatrixMarket;
import io.sparqr.spark.file.FileRows;
import io.sparqr.sparse.CsrMatrix;
import java.io.IOException;
import java.io.InputStream;

/**
 * A problem in the driver's memory: from the gallery, Matrix Market or libsvm.
 *
 * @param a A, m x n, already transposed if requested
 * @param b m x k
 */
record LocalProblem(CsrMatrix a, DenseMatrix b) {

  /**
   * Reads matrix and right-hand side.
   *
   * @param rhs the given right-hand sides, or null: a libsvm file's labels, or the default one
   */
  static LocalProblem read(String name, MatrixFormat format, boolean transpose, DenseMatrix rhs)
      throws IOException {
    CsrMatrix a;
    DenseMatrix b = rhs;
    if (format == MatrixFormat.LIBSVM) {
      if (transpose && rhs == null) {
        throw new UsageException(name + ": the labels do not fit the transpose, --rhs is needed");
      }
      LabeledMatrix labeled;
      try (InputStream in = MatrixFormat.open(name)) {
        labeled = Libsvm.read(in, name);
      }
      a = labeled.matrix();
      b = rhs == null ? new DenseMatrix(a.rows(), 1, labeled.labels()) : rhs;
    } else {
      a = readMatrix(name, format);
    }
    a = transpose ? a.transpose() : a;
    requireShape(name, a.rows(), a.columns());
    if (b == null) {
      b = new DenseMatrix(a.rows(), 1, DefaultRightHandSide.of(a));
    }
    FileRows.requireRightHandSide(b, a.rows());
    return new LocalProblem(a, b);
  }

  /** Reads the matrix alone, without the labels of a libsvm file. */
  static CsrMatrix readMatrix(String name, MatrixFormat format) throws IOException {
    if (format == MatrixFormat.GALLERY) {
      return generate(name);
    }
    try (InputStream in = MatrixFormat.open(name)) {
      return format == MatrixFormat.LIBSVM
          ? Libsvm.read(in, name).matrix()
          : MatrixMarket.readMatrix(in, name);
    }
  }

  /** A matrix of the gallery; an invalid specification is a usage error. */
  static CsrMatrix generate(String specification) {
    try {
      return Gallery.generate(specification);
    } catch (IllegalArgumentException e) {
      throw new UsageException(e.getMessage());
    }
  }

  /** Rejects a matrix without rows or columns. */
  static void requireShape(String name, long rows, long columns) {
    if (rows == 0 || columns == 0) {
      throw FileRows.empty(name, rows, columns);
    }
  }
}
