/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.input;

import io.sparqr.matrix.DenseMatrix;
import io.sparqr.matrix.IndexBase;
import io.sparqr.matrix.LabeledMatrix;
import io.sparqr.matrix.Libsvm;
import io.sparqr.matrix.Matlab;
import io.sparqr.matrix.MatrixMarket;
import io.sparqr.matrix.Numpy;
import io.sparqr.matrix.RutherfordBoeing;
import io.sparqr.matrix.gallery.DefaultRightHandSide;
import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.spark.file.FileRows;
import io.sparqr.sparse.CsrMatrix;
import java.io.IOException;
import java.io.InputStream;
import org.jspecify.annotations.Nullable;

/**
 * A problem in the driver's memory: from the gallery or a file.
 *
 * @param a A, m x n, already transposed if requested
 * @param b m x k
 * @param note an assumption made while reading that the user should know; empty: none
 */
public record LocalProblem(CsrMatrix a, DenseMatrix b, String note) {

  /** A problem about which there is nothing to note. */
  public LocalProblem(CsrMatrix a, DenseMatrix b) {
    this(a, b, "");
  }

  /**
   * A matrix to read.
   *
   * @param name of the file, or a specification of the gallery
   * @param base of the indices of a libsvm file
   * @param variable of a MATLAB file; default: by the reader's rule
   */
  public record Source(
      String name, MatrixFormat format, IndexBase base, @Nullable String variable) {

    /** A source whose index base is inferred, with no variable chosen. */
    Source(String name, MatrixFormat format) {
      this(name, format, IndexBase.INFERRED, null);
    }

    private LabeledMatrix labeled() throws IOException {
      try (InputStream in = MatrixFormat.open(name)) {
        return Libsvm.read(in, name, base);
      }
    }
  }

  /**
   * Reads matrix and right-hand side.
   *
   * @param rhs the given right-hand sides; default: a libsvm file's labels, or the default one
   */
  public static LocalProblem read(Source source, boolean transpose, @Nullable DenseMatrix rhs)
      throws IOException {
    CsrMatrix a;
    DenseMatrix b = rhs;
    String note = "";
    if (source.format == MatrixFormat.LIBSVM) {
      if (transpose && rhs == null) {
        throw new UsageException(
            source.name + ": the labels do not fit the transpose, --rhs is needed");
      }
      LabeledMatrix labeled = source.labeled();
      a = labeled.matrix();
      b = rhs == null ? new DenseMatrix(a.rows(), 1, labeled.labels()) : rhs;
      note = labeled.note();
    } else {
      a = readMatrix(source);
    }
    a = transpose ? a.transpose() : a;
    requireShape(source.name, a.rows(), a.columns());
    if (b == null) {
      b = new DenseMatrix(a.rows(), 1, DefaultRightHandSide.of(a));
    }
    FileRows.requireRightHandSide(b, a.rows());
    return new LocalProblem(a, b, note);
  }

  /** Reads the matrix alone, without the labels of a libsvm file. */
  public static CsrMatrix readMatrix(Source source) throws IOException {
    String name = source.name;
    if (source.format == MatrixFormat.GALLERY) {
      return generate(name);
    }
    if (source.format == MatrixFormat.LIBSVM) {
      return source.labeled().matrix();
    }
    try (InputStream in = MatrixFormat.open(name)) {
      return switch (source.format) {
        case NUMPY -> Numpy.readMatrix(in, name);
        case MATLAB -> Matlab.readMatrix(in, name, source.variable);
        case RUTHERFORD_BOEING -> RutherfordBoeing.readMatrix(in, name);
        default -> MatrixMarket.readMatrix(in, name);
      };
    }
  }

  /** A matrix of the gallery; an invalid specification is a usage error. */
  public static CsrMatrix generate(String specification) {
    try {
      return Gallery.generate(specification);
    } catch (IllegalArgumentException e) {
      throw new UsageException(String.valueOf(e.getMessage()));
    }
  }

  /** Rejects a matrix without rows or columns. */
  public static void requireShape(String name, long rows, long columns) {
    if (rows == 0 || columns == 0) {
      throw FileRows.empty(name, rows, columns);
    }
  }
}
