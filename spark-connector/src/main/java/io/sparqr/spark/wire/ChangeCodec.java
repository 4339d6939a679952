/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.wire;

import io.sparqr.error.InputChangedException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;

/**
 * An {@link InputChangedException} as data: a partition sends it to every receiver of its rows, in
 * place of the rows. Frame fields: a = partition, b = bytes of the message. Body: long rows first
 * and later, long nonzeros first and later, the message in UTF-8.
 */
public final class ChangeCodec {

  private static final int COUNTS = 4 * Long.BYTES;

  private ChangeCodec() {}

  /** Encodes the exception as a frame. */
  public static byte[] encode(InputChangedException e) {
    byte[] message = Objects.requireNonNull(e.getMessage()).getBytes(StandardCharsets.UTF_8);
    ByteBuffer b =
        Frame.allocate(
            Frame.Kind.CHANGE,
            e.partition().orElse(-1),
            message.length,
            0,
            0,
            COUNTS + message.length);
    b.putLong(e.firstRows()).putLong(e.laterRows().orElse(-1));
    b.putLong(e.firstNonzeros()).putLong(e.laterNonzeros().orElse(-1));
    return Frame.seal(b.put(message));
  }

  /** The inverse of {@link #encode}. */
  public static InputChangedException decode(byte[] frame) {
    ByteBuffer b = Frame.open(frame, Frame.Kind.CHANGE);
    long[] counts = Frame.getLongs(b, 4);
    int length = Frame.field(b, 1);
    Frame.need(b, length);
    byte[] message = new byte[length];
    b.get(message);
    Frame.end(b);
    return new InputChangedException(
        new String(message, StandardCharsets.UTF_8),
        Frame.field(b, 0),
        counts[0],
        counts[1],
        counts[2],
        counts[3]);
  }

  /**
   * Searches the frames of all partitions for a change.
   *
   * @throws InputChangedException the exception of the lowest partition that sent one
   */
  public static void refuse(List<byte[]> frames) {
    byte[] lowest = null;
    for (byte[] frame : frames) {
      if (Frame.kind(frame) == Frame.Kind.CHANGE
          && (lowest == null || Frame.peek(frame, 0) < Frame.peek(lowest, 0))) {
        lowest = frame;
      }
    }
    if (lowest != null) {
      throw decode(lowest);
    }
  }
}
