/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.matrix;

import io.sparqr.error.IndexOverflowException;
import io.sparqr.error.MatrixFormatException;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.zip.ZipException;

/**
 * Numbers of a binary file, in order. Arrays grow with the numbers that are there, so a header that
 * declares more than the file has costs no memory. Errors name the file and the offset in it. Not
 * thread-safe.
 */
final class NumberInput {

  private static final int MOST = Integer.MAX_VALUE - 16;
  private static final int CAPACITY = 1 << 16;

  private final InputStream in;
  private String source;
  private final byte[] bytes = new byte[CAPACITY];
  private final ByteBuffer buffer = ByteBuffer.wrap(bytes);
  private long offset;

  /** A byte read ahead, which comes next; -1: none. */
  private int pending = -1;

  /**
   * Reads from a stream, which stays open.
   *
   * @param source what messages call the file
   */
  NumberInput(InputStream in, String source) {
    this.in = in;
    this.source = source;
  }

  /** What messages call the file. */
  String source() {
    return source;
  }

  /** Renames the file for the messages from now on, to say where in it. */
  NumberInput named(String where) {
    source = where;
    return this;
  }

  /** Bytes taken so far. */
  long offset() {
    return offset;
  }

  /** Text from the file for names and messages: what is not printable as a question mark. */
  static String printable(byte[] text) {
    return new String(text, StandardCharsets.ISO_8859_1).replaceAll("[^ -~\u00a0-\u00ff]", "?");
  }

  /** Sets the byte order of the following numbers. */
  NumberInput order(ByteOrder order) {
    buffer.order(order);
    return this;
  }

  /** An error at the current offset. */
  MatrixFormatException malformed(String what) {
    return new MatrixFormatException(
        source + ": " + what + " (at byte " + offset + ")", source, -1);
  }

  private int some(int wanted, String what) throws IOException {
    int got = read(wanted);
    if (got < wanted) {
      throw malformed("the file ends within " + what);
    }
    buffer.position(0).limit(got);
    return got;
  }

  private int read(int wanted) throws IOException {
    int got = 0;
    if (pending >= 0 && wanted > 0) {
      bytes[got++] = (byte) pending;
      pending = -1;
    }
    try {
      got += in.readNBytes(bytes, got, wanted - got);
    } catch (EOFException e) {
      throw malformed("the compressed data are cut off");
    } catch (ZipException e) {
      throw malformed("the compressed data are damaged: " + e.getMessage());
    }
    offset += got;
    return got;
  }

  /** Whether the file ends here. */
  boolean done() throws IOException {
    if (pending < 0 && read(1) == 1) {
      pending = bytes[0] & 0xff;
      offset--;
    }
    return pending < 0;
  }

  /** The next bytes, at most 64 kB. */
  byte[] bytes(int count, String what) throws IOException {
    some(count, what);
    return Arrays.copyOf(bytes, count);
  }

  /** An unsigned 16-bit number. */
  int unsignedShort(String what) throws IOException {
    some(2, what);
    return buffer.getShort() & 0xffff;
  }

  /** An unsigned 32-bit number. */
  long unsignedInt(String what) throws IOException {
    some(4, what);
    return buffer.getInt() & 0xffffffffL;
  }

  /** Skips bytes. */
  void skip(long count, String what) throws IOException {
    for (long left = count; left > 0; ) {
      left -= some((int) Math.min(CAPACITY, left), what);
    }
  }

  /**
   * The next numbers as doubles.
   *
   * @param what their name in messages
   */
  double[] doubles(NumberType type, long count, String what) throws IOException {
    requireAddressable(count, what);
    double[] values = new double[(int) Math.min(count, CAPACITY)];
    int chunk = CAPACITY / type.bytes();
    for (int done = 0; done < count; ) {
      int now = (int) Math.min(chunk, count - done);
      some(now * type.bytes(), what);
      if (done + now > values.length) {
        values = Arrays.copyOf(values, (int) Math.min(count, Math.max(done + now, 2L * done)));
      }
      for (int k = 0; k < now; k++) {
        values[done++] = type.nextDouble(buffer);
      }
    }
    return values;
  }

  /**
   * The next numbers as indices.
   *
   * @param most the greatest that is valid; the least is 0
   * @param what their name in messages
   */
  int[] indices(NumberType type, long count, long most, String what) throws IOException {
    requireAddressable(count, what);
    if (type.isFloat()) {
      throw malformed(what + " are of the type " + type + ", not integers");
    }
    int[] values = new int[(int) Math.min(count, CAPACITY)];
    int chunk = CAPACITY / type.bytes();
    for (int done = 0; done < count; ) {
      int now = (int) Math.min(chunk, count - done);
      some(now * type.bytes(), what);
      if (done + now > values.length) {
        values = Arrays.copyOf(values, (int) Math.min(count, Math.max(done + now, 2L * done)));
      }
      for (int k = 0; k < now; k++) {
        long v = type.nextLong(buffer);
        if (v < 0 || v > most) {
          throw malformed(
              "number " + done + " of " + what + " is " + v + ", which is not in 0.." + most);
        }
        values[done++] = (int) v;
      }
    }
    return values;
  }

  private void requireAddressable(long count, String what) {
    if (count < 0 || count > MOST) {
      throw new IndexOverflowException(
          source + ": " + count + " " + what + " do not fit one JVM's array", what, count);
    }
  }
}
