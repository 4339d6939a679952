/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.matrix;

import io.sparqr.sparse.CsrMatrix;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.GZIPOutputStream;

/**
 * Writes Matrix Market files, always real and general, gzip where the name ends in {@code .gz}.
 * Numbers read back bit for bit, in the fewest digits that {@link Double#toString(double)} finds.
 * An existing file is overwritten.
 */
public final class MatrixMarketWriter {

  private MatrixMarketWriter() {}

  /** Writes the entries row by row. O(nnz). */
  public static void writeCoordinate(Path file, CsrMatrix a) throws IOException {
    try (OutputStream raw = Files.newOutputStream(file);
        OutputStream out = stream(raw, file);
        Writer text = writer(out)) {
      writeCoordinate(text, a);
    }
  }

  /** Writes column by column, one number per line. */
  public static void writeArray(Path file, DenseMatrix a) throws IOException {
    try (OutputStream raw = Files.newOutputStream(file);
        OutputStream out = stream(raw, file);
        Writer text = writer(out)) {
      writeArray(text, a);
    }
  }

  private static OutputStream stream(OutputStream raw, Path file) throws IOException {
    return file.toString().endsWith(".gz") ? new GZIPOutputStream(raw, 1 << 16) : raw;
  }

  private static Writer writer(OutputStream out) {
    return new BufferedWriter(new OutputStreamWriter(out, StandardCharsets.US_ASCII), 1 << 16);
  }

  private static void writeCoordinate(Writer text, CsrMatrix a) throws IOException {
    text.write("%%MatrixMarket matrix coordinate real general\n");
    text.write(a.rows() + " " + a.columns() + " " + a.nonzeros() + "\n");
    StringBuilder line = new StringBuilder(64);
    for (int i = 0; i < a.rows(); i++) {
      for (int k = a.rowStart()[i]; k < a.rowStart()[i + 1]; k++) {
        line.setLength(0);
        line.append(i + 1).append(' ').append(a.columnIndex()[k] + 1).append(' ');
        append(line, a.values()[k]).append('\n');
        text.append(line);
      }
    }
  }

  private static void writeArray(Writer text, DenseMatrix a) throws IOException {
    text.write("%%MatrixMarket matrix array real general\n");
    text.write(a.rows() + " " + a.columns() + "\n");
    StringBuilder line = new StringBuilder(32);
    for (double v : a.values()) {
      line.setLength(0);
      text.append(append(line, v).append('\n'));
    }
  }

  /** Whole numbers without a point, -0 kept; the rest as Java prints it. */
  private static StringBuilder append(StringBuilder line, double v) {
    boolean whole = v == Math.rint(v) && Math.abs(v) < 1e15 && (v != 0 || 1 / v > 0);
    return whole ? line.append((long) v) : line.append(v);
  }
}
