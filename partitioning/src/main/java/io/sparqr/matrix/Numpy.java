/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.matrix;

import io.sparqr.error.MatrixFormatException;
import io.sparqr.error.NonFiniteValueException;
import io.sparqr.sparse.CsrMatrix;
import java.io.IOException;
import java.io.InputStream;

/**
 * Reads arrays of NumPy (.npy) and the archives that SciPy's {@code save_npz} writes (.npz: csr,
 * csc, coo), or {@code numpy.savez} with one dense array. Real numbers and integers of up to 64
 * bits in any byte order, compressed or not. Zeros of a dense array are no entries of a sparse
 * matrix; stored zeros of a sparse one are. Cost: one pass, 8 bytes an element and 16 an entry.
 */
public final class Numpy {

  private Numpy() {}

  /** Whether a file that begins with these bytes (six or more) is a .npy array. */
  public static boolean isArray(byte[] first) {
    return NumpyHeader.begins(first);
  }

  /** Whether a file that begins with these bytes (four or more) is a zip archive, as .npz is. */
  public static boolean isArchive(byte[] first) {
    return first.length > 3 && first[0] == 'P' && first[1] == 'K' && first[2] == 3 && first[3] == 4;
  }

  /**
   * Reads an array or an archive as a sparse matrix; the stream stays open.
   *
   * @param source what messages call the file
   * @throws MatrixFormatException if it is malformed, of another type of numbers, or no matrix
   * @throws NonFiniteValueException at NaN or infinity
   */
  public static CsrMatrix readMatrix(InputStream in, String source) throws IOException {
    InputStream content = TextScanner.gunzipped(in, source);
    if (!isArchive(begin(content))) {
      return CompressedForm.ofDense(array(content, source, 2));
    }
    NumpyArchive archive = NumpyArchive.read(content, source);
    return archive.isSparse() ? archive.sparse() : CompressedForm.ofDense(archive.dense(2));
  }

  /**
   * Reads an array of one dimension (a column) or two, or an archive, as an m x k dense matrix:
   * right-hand sides. Errors as for {@link #readMatrix}.
   */
  public static DenseMatrix readDense(InputStream in, String source) throws IOException {
    InputStream content = TextScanner.gunzipped(in, source);
    if (!isArchive(begin(content))) {
      return array(content, source, 1);
    }
    NumpyArchive archive = NumpyArchive.read(content, source);
    return archive.isSparse() ? CompressedForm.toDense(archive.sparse(), source) : archive.dense(1);
  }

  private static byte[] begin(InputStream marked) throws IOException {
    marked.mark(4);
    byte[] first = marked.readNBytes(4);
    marked.reset();
    return first;
  }

  private static DenseMatrix array(InputStream content, String source, int least)
      throws IOException {
    NumberInput in = new NumberInput(content, source);
    NumpyHeader header = NumpyHeader.read(in);
    DenseMatrix read = dense(in, header, least);
    if (!in.done()) {
      throw in.malformed("bytes after the array");
    }
    return read;
  }

  /**
   * The numbers after a header.
   *
   * @param least dimensions needed: 1 or 2
   */
  static DenseMatrix dense(NumberInput in, NumpyHeader header, int least) throws IOException {
    int dimensions = header.shape().length;
    if (dimensions < least || dimensions > 2) {
      throw in.malformed(
          "an array of " + dimensions + " dimensions is no " + (least == 2 ? "matrix" : "column"));
    }
    if (header.type() == null) {
      throw in.malformed("text, not numbers");
    }
    long rows = header.shape()[0];
    long columns = dimensions == 2 ? header.shape()[1] : 1;
    if (rows > Integer.MAX_VALUE - 16 || columns > Integer.MAX_VALUE - 16) {
      throw in.malformed("an array of " + rows + " x " + columns + " is too large");
    }
    in.order(header.order());
    double[] values = in.doubles(header.type(), header.count(), "numbers");
    int m = (int) rows;
    int n = (int) columns;
    double[] byColumns = header.byColumns() || n == 1 || m <= 1 ? values : transposed(values, m, n);
    requireFinite(byColumns, m, in.source());
    return new DenseMatrix(m, n, byColumns);
  }

  /** Refuses NaN and infinity in columns of m numbers. */
  static void requireFinite(double[] byColumns, int m, String source) {
    for (int k = 0; k < byColumns.length; k++) {
      if (!Double.isFinite(byColumns[k])) {
        int i = k % m;
        int j = k / m;
        throw new NonFiniteValueException(
            source + ": the value of row " + (i + 1) + ", column " + (j + 1) + " is not finite",
            i,
            j);
      }
    }
  }

  private static double[] transposed(double[] byRows, int m, int n) {
    double[] byColumns = new double[byRows.length];
    for (int i = 0; i < m; i++) {
      for (int j = 0; j < n; j++) {
        byColumns[j * m + i] = byRows[i * n + j];
      }
    }
    return byColumns;
  }
}
