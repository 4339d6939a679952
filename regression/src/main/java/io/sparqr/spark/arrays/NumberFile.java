/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.arrays;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** A new file of little-endian numbers. */
final class NumberFile implements AutoCloseable {

  private static final int BUFFER = 1 << 17;

  private final FileChannel out;
  private final ByteBuffer buffer =
      ByteBuffer.allocateDirect(BUFFER).order(ByteOrder.LITTLE_ENDIAN);

  NumberFile(String folder, String name) throws IOException {
    out =
        FileChannel.open(
            Path.of(folder, name), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
  }

  void put(double[] values) throws IOException {
    for (double x : values) {
      room(Double.BYTES);
      buffer.putDouble(x);
    }
  }

  void put(int[] values) throws IOException {
    for (int x : values) {
      room(Integer.BYTES);
      buffer.putInt(x);
    }
  }

  void put(long value) throws IOException {
    room(Long.BYTES);
    buffer.putLong(value);
  }

  private void room(int bytes) throws IOException {
    if (buffer.remaining() < bytes) {
      flush();
    }
  }

  private void flush() throws IOException {
    buffer.flip();
    while (buffer.hasRemaining()) {
      out.write(buffer);
    }
    buffer.clear();
  }

  @Override
  public void close() throws IOException {
    try (out) {
      flush();
    }
  }
}
