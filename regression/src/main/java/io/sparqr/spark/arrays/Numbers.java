/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.arrays;

import java.io.ByteArrayInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.ReadableByteChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Little-endian numbers of a file or byte array, one after the other, through one buffer: arrays of
 * any size in bounded memory. I/O errors are thrown as {@link UncheckedIOException}, for use in
 * iterators. Not thread-safe.
 */
final class Numbers implements AutoCloseable {

  /** A multiple of the size of every number type. */
  private static final int BUFFER = 1 << 17;

  private final String name;
  private final ReadableByteChannel channel;
  private final ByteBuffer buffer =
      ByteBuffer.allocateDirect(BUFFER).order(ByteOrder.LITTLE_ENDIAN).limit(0);

  private Numbers(String name, ReadableByteChannel channel) {
    this.name = name;
    this.channel = channel;
  }

  /** The numbers of a file from a byte offset on. */
  static Numbers of(Path file, long offset) {
    try {
      var channel = FileChannel.open(file, StandardOpenOption.READ);
      channel.position(offset);
      return new Numbers(file.toString(), channel);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The numbers of a byte array. */
  static Numbers of(byte[] bytes, String name) {
    return new Numbers(name, Channels.newChannel(new ByteArrayInputStream(bytes)));
  }

  /** The next int64. */
  long nextLong() {
    need(Long.BYTES);
    return buffer.getLong();
  }

  /** The next float64. */
  double nextDouble() {
    need(Double.BYTES);
    return buffer.getDouble();
  }

  /** Fills the array with the next int32s. */
  void ints(int[] into) {
    int done = 0;
    while (done < into.length) {
      need(Integer.BYTES);
      int some = Math.min(into.length - done, buffer.remaining() / Integer.BYTES);
      buffer.asIntBuffer().get(into, done, some);
      buffer.position(buffer.position() + some * Integer.BYTES);
      done += some;
    }
  }

  /** Fills the array with the next float64s. */
  void doubles(double[] into) {
    int done = 0;
    while (done < into.length) {
      need(Double.BYTES);
      int some = Math.min(into.length - done, buffer.remaining() / Double.BYTES);
      buffer.asDoubleBuffer().get(into, done, some);
      buffer.position(buffer.position() + some * Double.BYTES);
      done += some;
    }
  }

  /** Makes the given number of bytes available. */
  private void need(int bytes) {
    if (buffer.remaining() >= bytes) {
      return;
    }
    buffer.compact();
    try {
      while (buffer.position() < bytes) {
        if (channel.read(buffer) < 0) {
          throw new EOFException(name + " ends too early");
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    buffer.flip();
  }

  @Override
  public void close() {
    try {
      channel.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
