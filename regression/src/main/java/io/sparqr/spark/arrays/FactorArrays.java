/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.arrays;

import io.sparqr.spark.model.RFactor;
import io.sparqr.sparse.CsrMatrix;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** R as little-endian arrays in files, in the caller's units: sqrt(W) A P = Q R. */
public final class FactorArrays {

  private static final int BUFFER = 1 << 17;

  private FactorArrays() {}

  /**
   * Writes R D^-1, rank x n upper trapezoidal with the columns in the order P: {@code indptr}
   * (int32, rank + 1), {@code indices} (int32), {@code data} (float64).
   *
   * @param folder an existing folder without such files
   * @return rank: the number of rows
   * @throws IOException if it cannot be written
   */
  public static int write(RFactor factor, String folder) throws IOException {
    CsrMatrix r = factor.matrix();
    writeInts(Path.of(folder, ArrayFolder.INDPTR), r.rowStart(), r.rows() + 1);
    writeInts(Path.of(folder, ArrayFolder.INDICES), r.columnIndex(), r.nonzeros());
    double[] inverse = inverseScales(factor);
    try (FileChannel out = create(Path.of(folder, ArrayFolder.DATA))) {
      ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER).order(ByteOrder.LITTLE_ENDIAN);
      int nonzeros = r.nonzeros();
      for (int k = 0; k < nonzeros; k++) {
        if (buffer.remaining() < Double.BYTES) {
          flush(buffer, out);
        }
        buffer.putDouble(r.values()[k] * inverse[r.columnIndex()[k]]);
      }
      flush(buffer, out);
    }
    return r.rows();
  }

  /** The values of R D^-1, in the order of R's own. */
  public static double[] values(RFactor factor) {
    CsrMatrix r = factor.matrix();
    double[] inverse = inverseScales(factor);
    double[] values = new double[r.nonzeros()];
    for (int k = 0; k < values.length; k++) {
      values[k] = r.values()[k] * inverse[r.columnIndex()[k]];
    }
    return values;
  }

  private static double[] inverseScales(RFactor factor) {
    double[] inverse = new double[factor.matrix().columns()];
    for (int p = 0; p < inverse.length; p++) {
      inverse[p] = 1 / factor.scale()[factor.permutation().original(p)];
    }
    return inverse;
  }

  private static void writeInts(Path file, int[] values, int count) throws IOException {
    try (FileChannel out = create(file)) {
      ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER).order(ByteOrder.LITTLE_ENDIAN);
      for (int k = 0; k < count; k++) {
        if (buffer.remaining() < Integer.BYTES) {
          flush(buffer, out);
        }
        buffer.putInt(values[k]);
      }
      flush(buffer, out);
    }
  }

  private static FileChannel create(Path file) throws IOException {
    return FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
  }

  private static void flush(ByteBuffer buffer, FileChannel out) throws IOException {
    buffer.flip();
    while (buffer.hasRemaining()) {
      out.write(buffer);
    }
    buffer.clear();
  }
}
