/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.matrix;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** Writes .npy files (NumPy Enhancement Proposal 1, version 1). */
public final class NumpyWriter {

  /** Bytes before the header's text, and what the whole header is a multiple of. */
  private static final int PREFIX = 10;

  private static final int ALIGNMENT = 64;

  /** Values converted at a time. */
  private static final int PIECE = 1 << 12;

  private NumpyWriter() {}

  /** Writes little-endian doubles by columns. An existing file is overwritten. */
  public static void writeArray(Path file, DenseMatrix a) throws IOException {
    try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(file), 1 << 16)) {
      out.write(header(a));
      ByteBuffer bytes = ByteBuffer.allocate(8 * PIECE).order(ByteOrder.LITTLE_ENDIAN);
      double[] values = a.values();
      int at = 0;
      while (at < values.length) {
        int count = Math.min(PIECE, values.length - at);
        bytes.asDoubleBuffer().put(values, at, count);
        out.write(bytes.array(), 0, 8 * count);
        at += count;
      }
    }
  }

  private static byte[] header(DenseMatrix a) {
    String text =
        "{'descr': '<f8', 'fortran_order': True, 'shape': (%d, %d), }"
            .formatted(a.rows(), a.columns());
    int length = (PREFIX + text.length() + ALIGNMENT) / ALIGNMENT * ALIGNMENT - PREFIX;
    ByteBuffer bytes = ByteBuffer.allocate(PREFIX + length).order(ByteOrder.LITTLE_ENDIAN);
    bytes.put((byte) 0x93).put("NUMPY".getBytes(StandardCharsets.US_ASCII));
    bytes.put((byte) 1).put((byte) 0).putShort((short) length);
    bytes.put(text.getBytes(StandardCharsets.US_ASCII));
    while (bytes.remaining() > 1) {
      bytes.put((byte) ' ');
    }
    return bytes.put((byte) '\n').array();
  }
}
