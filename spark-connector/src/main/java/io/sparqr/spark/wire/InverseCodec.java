/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.wire;

import io.sparqr.error.WireFormatException;
import java.nio.ByteBuffer;

/**
 * Some columns of a square block of (R'R)^-1. Frame fields: a = from, b = to, c = rows. Body:
 * double value[c x (b - a)], row-major.
 */
public final class InverseCodec {

  private InverseCodec() {}

  /** Columns [from, to), all rows, as a frame. */
  public static byte[] encode(int from, int to, int rows, double[] value) {
    ByteBuffer b = Frame.allocate(Frame.Kind.INVERSE, from, to, rows, 0, 8L * value.length);
    Frame.putDoubles(b, value, 0, value.length);
    return Frame.seal(b);
  }

  /** Whether a frame has one of the columns [from, to); the frame is not checked. */
  public static boolean meets(byte[] frame, int from, int to) {
    return from(frame) < to && from < to(frame);
  }

  /** The first column of a frame; the frame is not checked. */
  public static int from(byte[] frame) {
    return Frame.peek(frame, 0);
  }

  /** The column after the last of a frame; the frame is not checked. */
  public static int to(byte[] frame) {
    return Frame.peek(frame, 1);
  }

  /**
   * The values of a frame.
   *
   * @throws WireFormatException if the frame is damaged, or of another number of rows
   */
  public static double[] decode(byte[] frame, int rows) {
    ByteBuffer b = Frame.open(frame, Frame.Kind.INVERSE);
    long count = (long) rows * (Frame.field(b, 1) - Frame.field(b, 0));
    Frame.require(Frame.field(b, 2) == rows && 8 * count == b.remaining(), "length");
    double[] value = Frame.getDoubles(b, (int) count);
    Frame.end(b);
    return value;
  }
}
