/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.wire;

import io.sparqr.error.WireFormatException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Numbers, arrays and texts one after the other as the body of a frame: int, long and double
 * directly, an array as int length and its values, a text as int length and its bytes in UTF-8. The
 * reader must know the order. Lengths are checked against the bytes present, so that a damaged
 * frame cannot allocate more than it holds.
 */
public final class NumberFrame {

  private NumberFrame() {}

  /**
   * Collects values, arrays by reference; they must not change before {@link #seal}. Not
   * thread-safe.
   */
  public static final class Writer {
    private final List<Object> parts = new ArrayList<>();
    private long bytes;

    /** Starts empty. */
    public Writer() {}

    /** Adds a number. */
    public Writer putInt(int value) {
      return add(value, Integer.BYTES);
    }

    /** Adds a number. */
    public Writer putLong(long value) {
      return add(value, Long.BYTES);
    }

    /** Adds a number with all its bits. */
    public Writer putDouble(double value) {
      return add(value, Double.BYTES);
    }

    /** Adds an array. */
    public Writer putInts(int[] values) {
      return add(values, Integer.BYTES + (long) Integer.BYTES * values.length);
    }

    /** Adds an array with all its bits. */
    public Writer putDoubles(double[] values) {
      return add(values, Integer.BYTES + (long) Double.BYTES * values.length);
    }

    /** Adds a text. */
    public Writer putText(String value) {
      byte[] text = value.getBytes(StandardCharsets.UTF_8);
      return add(text, Integer.BYTES + (long) text.length);
    }

    private Writer add(Object part, long length) {
      parts.add(part);
      bytes += length;
      return this;
    }

    /**
     * The complete frame.
     *
     * @throws WireFormatException if it would exceed an array
     */
    public byte[] seal(Frame.Kind kind) {
      ByteBuffer b = Frame.allocate(kind, 0, 0, 0, 0, bytes);
      for (Object part : parts) {
        write(part, b);
      }
      return Frame.seal(b);
    }

    private static void write(Object part, ByteBuffer b) {
      if (part instanceof Integer v) {
        b.putInt(v);
      } else if (part instanceof Long v) {
        b.putLong(v);
      } else if (part instanceof Double v) {
        b.putLong(Double.doubleToRawLongBits(v));
      } else if (part instanceof int[] v) {
        b.putInt(v.length);
        Frame.putInts(b, v, 0, v.length);
      } else if (part instanceof double[] v) {
        b.putInt(v.length);
        Frame.putDoubles(b, v, 0, v.length);
      } else {
        byte[] text = (byte[]) part;
        b.putInt(text.length);
        b.put(text);
      }
    }
  }

  /** Reads in the order of writing. */
  public static final class Reader {
    private final ByteBuffer b;

    /**
     * @throws WireFormatException if this is not a complete frame of that kind
     */
    public Reader(byte[] frame, Frame.Kind kind) {
      this.b = Frame.open(frame, kind);
    }

    /** The next number. */
    public int getInt() {
      Frame.need(b, Integer.BYTES);
      return b.getInt();
    }

    /** The next number. */
    public long getLong() {
      Frame.need(b, Long.BYTES);
      return b.getLong();
    }

    /** The next number. */
    public double getDouble() {
      return Double.longBitsToDouble(getLong());
    }

    /** The next array. */
    public int[] getInts() {
      return Frame.getInts(b, getInt());
    }

    /** The next array. */
    public double[] getDoubles() {
      return Frame.getDoubles(b, getInt());
    }

    /** The next text. */
    public String getText() {
      int length = getInt();
      Frame.need(b, length);
      byte[] text = new byte[length];
      b.get(text);
      return new String(text, StandardCharsets.UTF_8);
    }

    /**
     * The number of elements that follow, each of at least leastBytes.
     *
     * @throws WireFormatException if they cannot fit
     */
    public int getCount(int leastBytes) {
      int count = getInt();
      Frame.need(b, (long) leastBytes * count);
      return count;
    }

    /**
     * The constant with the next number as its index.
     *
     * @throws WireFormatException if there is none
     */
    public <T> T getOneOf(T[] values) {
      int k = getInt();
      if (k < 0 || k >= values.length) {
        throw new WireFormatException("constant " + k + " of " + values.length, "constant");
      }
      return values[k];
    }

    /**
     * Checks that nothing is left.
     *
     * @throws WireFormatException if anything is left
     */
    public void end() {
      Frame.end(b);
    }
  }
}
