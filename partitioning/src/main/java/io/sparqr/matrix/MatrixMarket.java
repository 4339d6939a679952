/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.matrix;

import io.sparqr.error.IndexOverflowException;
import io.sparqr.error.NonFiniteValueException;
import io.sparqr.matrix.MatrixMarketHeader.Symmetry;
import io.sparqr.sparse.CsrMatrix;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * Reads Matrix Market files (Boisvert, Pozo, Remington 1996, NISTIR 5935): coordinate and array;
 * real, integer, unsigned-integer and pattern; general, symmetric and skew-symmetric; plain or
 * gzip, recognised by content; vectors, which are matrices of one column. {@link
 * MatrixMarketWriter} writes them.
 *
 * <p>Where the format leaves a choice: banner words in any case, the first with one or two %; blank
 * lines and comments anywhere after the banner; duplicate entries are summed; a pattern's entries
 * are 1; stored zeros of a coordinate file stay entries, zeros of an array file do not; in a
 * symmetric file an entry above the diagonal also stands for its mirror image; numbers of an array
 * may share a line; Fortran's exponents are read, with D and without a letter.
 *
 * <p>Refused with the file and the line: an unsupported banner (above all complex), too few or too
 * many entries, an index out of range (0-based files too), an entry of a symmetric file together
 * with its mirror image, a word where a number should be, text after an entry, NaN, infinity, a
 * number beyond the double range. Cost: one pass, about 24 bytes an entry.
 */
public final class MatrixMarket {

  private MatrixMarket() {}

  /**
   * Reads a file as a sparse matrix.
   *
   * @throws IOException if it cannot be opened or read
   * @throws io.sparqr.error.MatrixFormatException if it is malformed; the message names file and
   *     line
   * @throws NonFiniteValueException at NaN, infinity or a number beyond the double range
   */
  public static CsrMatrix readMatrix(Path file) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      return readMatrix(in, file.toString());
    }
  }

  /** {@link #readMatrix(Path)} from a stream, which stays open. */
  public static CsrMatrix readMatrix(InputStream in, String source) throws IOException {
    TextScanner scanner = new TextScanner(in, source);
    MatrixMarketHeader header = MatrixMarketHeader.read(scanner);
    int m = header.intRows(source);
    if (header.format().coordinate()) {
      return coordinates(scanner, source, header).toCsr(m, header.columns());
    }
    DenseMatrix dense = array(scanner, source, header);
    Triplets entries = new Triplets();
    for (int i = 0; i < m; i++) {
      for (int j = 0; j < header.columns(); j++) {
        double v = dense.values()[j * m + i];
        if (v != 0) {
          entries.add(i, j, v);
        }
      }
    }
    return entries.toCsr(m, header.columns());
  }

  /**
   * Reads a file as an m x k dense matrix: right-hand sides. A coordinate file is filled up with
   * zeros. Errors as for {@link #readMatrix(Path)}.
   */
  public static DenseMatrix readDense(Path file) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      return readDense(in, file.toString());
    }
  }

  /** {@link #readDense(Path)} from a stream, which stays open. */
  public static DenseMatrix readDense(InputStream in, String source) throws IOException {
    TextScanner scanner = new TextScanner(in, source);
    MatrixMarketHeader header = MatrixMarketHeader.read(scanner);
    if (!header.format().coordinate()) {
      return array(scanner, source, header);
    }
    int m = header.intRows(source);
    double[] values = new double[denseSize(header)];
    CsrMatrix sparse = coordinates(scanner, source, header).toCsr(m, header.columns());
    for (int i = 0; i < m; i++) {
      for (int k = sparse.rowStart()[i]; k < sparse.rowStart()[i + 1]; k++) {
        values[sparse.columnIndex()[k] * m + i] = sparse.values()[k];
      }
    }
    return new DenseMatrix(m, header.columns(), values);
  }

  private static Triplets coordinates(TextScanner in, String source, MatrixMarketHeader header)
      throws IOException {
    Triplets entries = new Triplets();
    CoordinateReader reader = new CoordinateReader(in, source, header);
    SymmetricHalves halves = new SymmetricHalves();
    while (reader.next()) {
      int i = (int) reader.row();
      entries.add(i, reader.column(), reader.value());
      if (reader.mirrored()) {
        entries.add(reader.column(), i, reader.mirrorValue());
        halves.add(i, reader.column(), reader.line());
      }
    }
    reader.requireComplete();
    halves.requireOne(source);
    return entries;
  }

  private static int denseSize(MatrixMarketHeader header) {
    long size = header.rows() * header.columns();
    if (size > Integer.MAX_VALUE - 16) {
      throw new IndexOverflowException(
          header.rows() + " x " + header.columns() + " is too much for one dense array",
          "size",
          size);
    }
    return (int) size;
  }

  private static DenseMatrix array(TextScanner in, String source, MatrixMarketHeader header)
      throws IOException {
    int size = denseSize(header);
    int m = header.intRows(source);
    // The sizes in a truncated file's header must not exhaust memory: grow with the data.
    double[] values = new double[Math.min(size, 1 << 20)];
    ArrayReader reader = new ArrayReader(in, source, header);
    while (reader.next()) {
      int at = reader.column() * m + (int) reader.row();
      if (at >= values.length) {
        values = Arrays.copyOf(values, (int) Math.min(size, Math.max(at + 1L, 2L * at)));
      }
      values[at] = reader.value();
    }
    reader.requireComplete();
    values = values.length == size ? values : Arrays.copyOf(values, size);
    if (header.format().symmetry() != Symmetry.GENERAL) {
      mirror(values, m, header.format().symmetry() == Symmetry.SKEW ? -1 : 1);
    }
    return new DenseMatrix(m, header.columns(), values);
  }

  private static void mirror(double[] values, int n, int sign) {
    for (int j = 0; j < n; j++) {
      for (int i = j + 1; i < n; i++) {
        values[i * n + j] = sign * values[j * n + i];
      }
    }
  }
}
