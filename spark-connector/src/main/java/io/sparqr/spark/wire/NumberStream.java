/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.wire;

import io.sparqr.error.WireFormatException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.IntToLongFunction;
import java.util.function.IntUnaryOperator;

/**
 * Numbers, arrays and texts one after the other, for data as long as a row of A or longer: in
 * frames of at most {@value #CHUNK} bytes that are written and read one at a time, so that neither
 * side ever holds all the bytes. Ints and longs take one byte per group of 7 bits; arrays of ints
 * are encoded by the differences of consecutive values.
 *
 * <p>Frame fields: a = index of the frame, from 0; b = 1 in the last one. An array grows as its
 * bytes arrive, so that memory is never allocated for an unverified length.
 */
public final class NumberStream {

  /** Bytes of a frame's body. */
  public static final int CHUNK = 1 << 18;

  /** Maximum number of bytes of a number. */
  private static final int MOST_BYTES = 10;

  private NumberStream() {}

  /** The receiver of the frames. */
  @FunctionalInterface
  public interface Sink {
    void accept(byte[] frame) throws IOException;
  }

  /** The source of the frames. */
  @FunctionalInterface
  public interface Source {
    byte[] next() throws IOException;
  }

  /** Writes values. Not thread-safe. */
  public static final class Writer {
    private final Frame.Kind kind;
    private final Sink sink;
    private final byte[] body = new byte[CHUNK];
    private int used;
    private int frames;

    /** Writes frames of this kind. */
    public Writer(Frame.Kind kind, Sink sink) {
      this.kind = kind;
      this.sink = sink;
    }

    private void room(int bytes) throws IOException {
      if (used > CHUNK - bytes) {
        flush(false);
      }
    }

    private void flush(boolean last) throws IOException {
      ByteBuffer b = Frame.allocate(kind, frames++, last ? 1 : 0, 0, 0, used);
      b.put(body, 0, used);
      used = 0;
      sink.accept(Frame.seal(b));
    }

    /** Writes a number that is usually at least 0; a negative one takes 10 bytes. */
    public Writer putLong(long value) throws IOException {
      room(MOST_BYTES);
      used = Frame.putGroups(body, used, value);
      return this;
    }

    /** Writes a number of either sign. */
    public Writer putInt(int value) throws IOException {
      return putLong((value << 1 ^ value >> 31) & 0xffffffffL);
    }

    private void fixed(long bits, int bytes) throws IOException {
      room(Long.BYTES);
      for (int k = 0; k < bytes; k++) {
        body[used++] = (byte) (bits >>> 8 * k);
      }
    }

    /** Writes a number with all its bits. */
    public Writer putDouble(double value) throws IOException {
      fixed(Double.doubleToRawLongBits(value), Double.BYTES);
      return this;
    }

    /** Writes a boolean. */
    public Writer putBoolean(boolean value) throws IOException {
      return putInt(value ? 1 : 0);
    }

    /** Writes an array. */
    public Writer putInts(int[] values) throws IOException {
      return putInts(values.length, k -> values[k]);
    }

    /** Writes the values at 0 .. length-1 of a function as an array. */
    public Writer putInts(int length, IntUnaryOperator values) throws IOException {
      putLong(length);
      int before = 0;
      for (int k = 0; k < length; k++) {
        int v = values.applyAsInt(k);
        putInt(v - before);
        before = v;
      }
      return this;
    }

    /** Writes the values at 0 .. length-1 of a function as an array. */
    public Writer putLongs(int length, IntToLongFunction values) throws IOException {
      putLong(length);
      for (int k = 0; k < length; k++) {
        putLong(values.applyAsLong(k));
      }
      return this;
    }

    /** Writes an array with all its bits. */
    public Writer putDoubles(double[] values) throws IOException {
      putLong(values.length);
      for (double v : values) {
        putDouble(v);
      }
      return this;
    }

    /** Writes a text. */
    public Writer putText(String value) throws IOException {
      byte[] text = value.getBytes(StandardCharsets.UTF_8);
      putLong(text.length);
      for (byte c : text) {
        fixed(c, 1);
      }
      return this;
    }

    /** Writes the last frame. */
    public void end() throws IOException {
      flush(true);
    }
  }

  /** Reads in the order of writing. Not thread-safe. */
  public static final class Reader {
    private static final Boolean[] NO_OR_YES = {false, true};

    private final Frame.Kind kind;
    private final Source source;
    private ByteBuffer b;
    private int frames;
    private boolean last;

    /** Reads frames of this kind. */
    public Reader(Frame.Kind kind, Source source) throws IOException {
      this.kind = kind;
      this.source = source;
      open();
    }

    private void open() throws IOException {
      b = Frame.open(source.next(), kind);
      Frame.require(Frame.field(b, 0) == frames++, "number of a frame");
      last = Frame.field(b, 1) != 0;
    }

    /** Opens the next frame at the end of one; no number is cut by it. */
    private void more() throws IOException {
      while (!b.hasRemaining()) {
        Frame.require(!last, "counts: they ask for more than there is");
        open();
      }
    }

    private int get() throws IOException {
      more();
      return b.get() & 0xff;
    }

    /** The next number. */
    public long getLong() throws IOException {
      more();
      return Frame.getGroups(b);
    }

    /** The next number. */
    public int getInt() throws IOException {
      long v = getLong();
      Frame.require(v >>> 32 == 0, "number");
      int z = (int) v;
      return z >>> 1 ^ -(z & 1);
    }

    /** The next length of an array or number of elements, which must be at least 0. */
    public int getLength() throws IOException {
      long v = getLong();
      Frame.require(v >= 0 && v <= Integer.MAX_VALUE - 8, "length");
      return (int) v;
    }

    private long fixed(int bytes) throws IOException {
      long bits = 0;
      for (int k = 0; k < bytes; k++) {
        bits |= (long) get() << 8 * k;
      }
      return bits;
    }

    /** The next number. */
    public double getDouble() throws IOException {
      return Double.longBitsToDouble(fixed(Double.BYTES));
    }

    /** The next boolean. */
    public boolean getBoolean() throws IOException {
      return getOneOf(NO_OR_YES);
    }

    /** The next array. */
    public int[] getInts() throws IOException {
      int length = getLength();
      int[] values = new int[first(length, 1)];
      int before = 0;
      for (int k = 0; k < length; k++) {
        if (k == values.length) {
          values = Arrays.copyOf(values, grown(k, length));
        }
        before += getInt();
        values[k] = before;
      }
      return values;
    }

    /** The next array. */
    public long[] getLongs() throws IOException {
      int length = getLength();
      long[] values = new long[first(length, 1)];
      for (int k = 0; k < length; k++) {
        if (k == values.length) {
          values = Arrays.copyOf(values, grown(k, length));
        }
        values[k] = getLong();
      }
      return values;
    }

    /** The next array. */
    public double[] getDoubles() throws IOException {
      int length = getLength();
      double[] values = new double[first(length, Double.BYTES)];
      for (int k = 0; k < length; k++) {
        if (k == values.length) {
          values = Arrays.copyOf(values, grown(k, length));
        }
        values[k] = getDouble();
      }
      return values;
    }

    /**
     * The initial size of an array: at most as many elements as this frame can hold; the array
     * grows with the frames.
     */
    private int first(int length, int leastBytes) {
      return Math.min(length, 1 + b.remaining() / leastBytes);
    }

    private static int grown(int there, int length) {
      return (int) Math.min(length, 2L * there);
    }

    /** The next text. */
    public String getText() throws IOException {
      int length = getLength();
      byte[] text = new byte[first(length, 1)];
      for (int k = 0; k < length; k++) {
        if (k == text.length) {
          text = Arrays.copyOf(text, grown(k, length));
        }
        text[k] = (byte) get();
      }
      return new String(text, StandardCharsets.UTF_8);
    }

    /**
     * The constant with the next number as its index.
     *
     * @throws WireFormatException if there is none
     */
    public <T> T getOneOf(T[] values) throws IOException {
      int k = getInt();
      if (k < 0 || k >= values.length) {
        throw new WireFormatException("constant " + k + " of " + values.length, "constant");
      }
      return values[k];
    }

    /** Whether anything is left: a part that streams of earlier versions do not have. */
    public boolean hasMore() {
      return b.hasRemaining() || !last;
    }

    /**
     * Checks that nothing is left.
     *
     * @throws WireFormatException if anything is left
     */
    public void end() throws IOException {
      Frame.end(b);
      Frame.require(last, "number of frames: there are more than its counts ask for");
    }
  }
}
