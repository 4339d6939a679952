/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.wire;

import io.sparqr.error.WireFormatException;
import io.sparqr.spark.stored.FactorChunk;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32C;

/**
 * The frame of all transferred data, little endian:
 *
 * <pre>
 *  0  int    magic 0x51525053 ("SPRQ")
 *  4  short  version
 *  6  byte   kind
 *  7  byte   zero
 *  8  int    CRC32C of all other bytes
 * 12  int    length of the whole frame in bytes
 * 16  int    a      kind-specific
 * 20  int    b
 * 24  int    c
 * 28  int    d
 * 32  body
 * </pre>
 *
 * <p>Decoders check that enough bytes are present before they rely on a count, so that a frame can
 * allocate only a small multiple of its own length. They reject bytes left over at the end.
 *
 * <p>What stays in a JVM has its checksum, too: a frame does not know where it goes, because
 * elements that tasks hand over go by a shuffle as soon as they are too many, and CRC32C takes 0.05
 * seconds a gigabyte.
 */
public final class Frame {

  /** Bytes before the body. */
  public static final int HEADER = 32;

  private static final int MAGIC = 0x51525053;
  private static final short VERSION = 2;

  /** The content of a frame. */
  public enum Kind {
    /** {@link RowBatchCodec}. */
    ROWS,
    /** {@link BlockCodec}. */
    BLOCK,
    /** {@link FactorChunk}. */
    FACTOR,
    /** {@link ObjectCodec}. */
    OBJECT,
    /** {@link VectorCodec#encodeChunk}. */
    CHUNK,
    /** {@link PatternCodec}. */
    PATTERN,
    /** {@link VectorCodec#encodeSparse}. */
    SPARSE,
    /** {@link EntryCodec}. */
    ENTRIES,
    /** {@link ReflectorCodec}. */
    REFLECTORS,
    /** {@link ReflectedCodec}. */
    REFLECTED,
    /** {@link ChangeCodec}. */
    CHANGE,
    /** A plan, by {@link NumberStream}. */
    PLAN,
    /** The report of a subtree task. */
    TASK,
    /** {@link LeverageCodec}. */
    LEVERAGE,
    /** The parts of a saved factorization other than R, by {@link NumberStream}. */
    STORED,
    /** {@link RowValuesCodec}. */
    ROW_VALUES,
    /** {@link InverseCodec}. */
    INVERSE,
    /** {@link VectorCodec#encodeSolution}. */
    SOLUTION
  }

  private Frame() {}

  /**
   * A buffer for a frame, its position at the body.
   *
   * @throws io.sparqr.error.WireFormatException if the frame would exceed an array
   */
  public static ByteBuffer allocate(Kind kind, int a, int b, int c, int d, long bodyBytes) {
    long length = HEADER + bodyBytes;
    if (length > Integer.MAX_VALUE - 8) {
      throw new WireFormatException(kind + " frame of " + length + " bytes is too long", "length");
    }
    ByteBuffer buffer = ByteBuffer.allocate((int) length).order(ByteOrder.LITTLE_ENDIAN);
    buffer.putInt(0, MAGIC).putShort(4, VERSION).put(6, (byte) kind.ordinal());
    buffer.putInt(12, (int) length);
    buffer.putInt(16, a).putInt(20, b).putInt(24, c).putInt(28, d);
    return buffer.position(HEADER);
  }

  /** Writes the checksum of a buffer from {@link #allocate} and returns its array. */
  public static byte[] seal(ByteBuffer buffer) {
    buffer.putInt(8, checksum(buffer.array()));
    return buffer.array();
  }

  /**
   * Checks magic, version, kind, length and checksum.
   *
   * @return the buffer, little endian, its position at the body; fields by {@link #field}
   * @throws WireFormatException naming the fault
   */
  public static ByteBuffer open(byte[] bytes, Kind kind) {
    if (bytes.length < HEADER) {
      throw bad(kind, "length", bytes.length + " bytes");
    }
    ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    if (buffer.getInt(0) != MAGIC) {
      throw bad(kind, "magic", Integer.toHexString(buffer.getInt(0)));
    }
    if (buffer.getShort(4) != VERSION) {
      throw bad(kind, "version", Short.toString(buffer.getShort(4)));
    }
    if (buffer.get(6) != kind.ordinal()) {
      throw bad(kind, "kind", Byte.toString(buffer.get(6)));
    }
    if (buffer.get(7) != 0) {
      throw bad(kind, "reserved byte", Byte.toString(buffer.get(7)));
    }
    if (buffer.getInt(12) != bytes.length) {
      throw bad(kind, "length", bytes.length + " bytes where " + buffer.getInt(12) + " were sent");
    }
    if (buffer.getInt(8) != checksum(bytes)) {
      throw bad(kind, "checksum", Integer.toHexString(buffer.getInt(8)));
    }
    return buffer.position(HEADER);
  }

  /**
   * Whether bytes begin as a frame and are not what was sealed: their length, kind or checksum is
   * wrong. O(bytes).
   */
  public static boolean isDamaged(byte[] bytes) {
    if (bytes.length < HEADER) {
      return false;
    }
    ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    return buffer.getInt(0) == MAGIC
        && (buffer.getInt(12) != bytes.length || buffer.getInt(8) != checksum(bytes));
  }

  /** The kind in the header of a frame, not verified before {@link #open}. */
  public static Kind kind(byte[] bytes) {
    if (bytes.length < HEADER || bytes[6] < 0 || bytes[6] >= Kind.values().length) {
      throw new WireFormatException("a frame of unknown kind", "kind");
    }
    return Kind.values()[bytes[6]];
  }

  /** Header field a, b, c or d (0 .. 3). */
  public static int field(ByteBuffer buffer, int k) {
    return buffer.getInt(16 + 4 * k);
  }

  /**
   * Header field a, b, c or d (0 .. 3) of a frame, not verified before {@link #open}.
   *
   * @throws WireFormatException if the frame is too short to have it
   */
  public static int peek(byte[] bytes, int k) {
    if (bytes.length < HEADER) {
      throw new WireFormatException("a frame of " + bytes.length + " bytes", "length");
    }
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getInt(16 + 4 * k);
  }

  public static void putInts(ByteBuffer buffer, int[] values, int from, int count) {
    buffer.asIntBuffer().put(values, from, count);
    buffer.position(buffer.position() + 4 * count);
  }

  public static void putDoubles(ByteBuffer buffer, DoubleBuffer values, int from, int count) {
    buffer.asDoubleBuffer().put(0, values, from, count);
    buffer.position(buffer.position() + 8 * count);
  }

  public static void putDoubles(ByteBuffer buffer, double[] values, int from, int count) {
    buffer.asDoubleBuffer().put(values, from, count);
    buffer.position(buffer.position() + 8 * count);
  }

  /**
   * Puts a number in groups of 7 bits, low ones first, the upper bit set in all but the last.
   *
   * @return the place behind it, at most 10 bytes further
   */
  static int putGroups(byte[] body, int from, long value) {
    int at = from;
    long v = value;
    while ((v & ~0x7fL) != 0) {
      body[at++] = (byte) (v | 0x80);
      v >>>= 7;
    }
    body[at++] = (byte) v;
    return at;
  }

  /**
   * The inverse of {@link #putGroups}.
   *
   * @throws WireFormatException if the number is cut off, or of more than 64 bits
   */
  static long getGroups(ByteBuffer buffer) {
    long v = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      need(buffer, 1);
      int c = buffer.get();
      v |= (c & 0x7fL) << shift;
      if (c >= 0) {
        return v;
      }
    }
    throw new WireFormatException("a number of more than 64 bits", "number");
  }

  /** Puts a text as the length of its bytes in UTF-8, and these. */
  public static void putText(ByteBuffer buffer, byte[] text) {
    buffer.putInt(text.length).put(text);
  }

  /** The inverse of {@link #putText}. */
  public static String getText(ByteBuffer buffer) {
    int length = getInt(buffer);
    need(buffer, length);
    byte[] text = new byte[length];
    buffer.get(text);
    return new String(text, StandardCharsets.UTF_8);
  }

  /** The next number. */
  public static int getInt(ByteBuffer buffer) {
    need(buffer, Integer.BYTES);
    return buffer.getInt();
  }

  /** The next number. */
  public static long getLong(ByteBuffer buffer) {
    need(buffer, Long.BYTES);
    return buffer.getLong();
  }

  /** The next number, with all its bits. */
  public static double getDouble(ByteBuffer buffer) {
    return Double.longBitsToDouble(getLong(buffer));
  }

  /** The next values. */
  public static int[] getInts(ByteBuffer buffer, int count) {
    need(buffer, 4L * count);
    int[] values = new int[count];
    buffer.asIntBuffer().get(values);
    buffer.position(buffer.position() + 4 * count);
    return values;
  }

  static long[] getLongs(ByteBuffer buffer, int count) {
    need(buffer, 8L * count);
    long[] values = new long[count];
    buffer.asLongBuffer().get(values);
    buffer.position(buffer.position() + 8 * count);
    return values;
  }

  /** The next values. */
  public static double[] getDoubles(ByteBuffer buffer, int count) {
    need(buffer, 8L * count);
    double[] values = new double[count];
    getDoubles(buffer, values, 0, count);
    return values;
  }

  static void getDoubles(ByteBuffer buffer, double[] values, int from, int count) {
    need(buffer, 8L * count);
    buffer.asDoubleBuffer().get(values, from, count);
    buffer.position(buffer.position() + 8 * count);
  }

  /** Checks a count: a negative one, or one past the end, means that the frame is malformed. */
  public static void need(ByteBuffer buffer, long bytes) {
    if (bytes < 0 || bytes > buffer.remaining()) {
      throw new WireFormatException(
          "a frame's counts ask for " + bytes + " bytes, " + buffer.remaining() + " are left",
          "counts");
    }
  }

  /** The last step of every decoder: rejects a body longer than announced. */
  public static void end(ByteBuffer buffer) {
    if (buffer.hasRemaining()) {
      throw new WireFormatException(
          "a frame has " + buffer.remaining() + " bytes more than its counts ask for", "counts");
    }
  }

  /** Checks a condition on the numbers of a body. */
  public static void require(boolean right, String what) {
    if (!right) {
      throw new WireFormatException("a frame with wrong " + what, what);
    }
  }

  private static int checksum(byte[] bytes) {
    var crc = new CRC32C();
    crc.update(bytes, 0, 8);
    crc.update(bytes, 12, bytes.length - 12);
    return (int) crc.getValue();
  }

  private static WireFormatException bad(Kind kind, String what, String found) {
    return new WireFormatException(kind + " frame: wrong " + what + ": " + found, what);
  }
}
