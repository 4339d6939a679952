/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.matrix;

import java.nio.ByteBuffer;

/** The types of numbers in binary files. */
enum NumberType {
  INT8(1),
  UINT8(1),
  INT16(2),
  UINT16(2),
  INT32(4),
  UINT32(4),
  INT64(8),
  UINT64(8),
  FLOAT16(2),
  FLOAT32(4),
  FLOAT64(8);

  private final int bytes;

  NumberType(int bytes) {
    this.bytes = bytes;
  }

  /** Bytes of a number. */
  int bytes() {
    return bytes;
  }

  boolean isFloat() {
    return this == FLOAT16 || this == FLOAT32 || this == FLOAT64;
  }

  /** The next number of the buffer; 64-bit integers are rounded. */
  double nextDouble(ByteBuffer from) {
    return switch (this) {
      case FLOAT64 -> from.getDouble();
      case FLOAT32 -> from.getFloat();
      case FLOAT16 -> half(from.getShort());
      case UINT64 -> unsigned(from.getLong());
      default -> nextLong(from);
    };
  }

  /** The next integer of the buffer; an unsigned one beyond 2^63 is negative. */
  long nextLong(ByteBuffer from) {
    return switch (this) {
      case INT8 -> from.get();
      case UINT8 -> from.get() & 0xff;
      case INT16 -> from.getShort();
      case UINT16 -> from.getShort() & 0xffff;
      case INT32 -> from.getInt();
      case UINT32 -> from.getInt() & 0xffffffffL;
      case INT64, UINT64 -> from.getLong();
      default -> throw new IllegalStateException(this + " is no integer");
    };
  }

  private static double unsigned(long v) {
    // Halved with its last bit kept, so that the sum is rounded once.
    return v >= 0 ? v : 2 * (double) (v >>> 1 | v & 1);
  }

  /** IEEE 754 binary16: sign, 5 bits of exponent with bias 15, 10 of fraction. */
  private static double half(short bits) {
    int exponent = bits >> 10 & 0x1f;
    int fraction = bits & 0x3ff;
    double size =
        switch (exponent) {
          case 0 -> Math.scalb((double) fraction, -24);
          case 31 -> fraction == 0 ? Double.POSITIVE_INFINITY : Double.NaN;
          default -> Math.scalb((double) (fraction | 0x400), exponent - 25);
        };
    return bits < 0 ? -size : size;
  }
}
