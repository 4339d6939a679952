/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.wire;

import java.nio.ByteBuffer;

/**
 * A ticket for a batch of rows that is held in this JVM. Frame fields: a = source partition, b =
 * index of the batch within it, as those of the batch; body: long key of where it is held.
 */
public final class TicketCodec {

  private TicketCodec() {}

  /** The ticket for a batch. */
  public static byte[] encode(long key, byte[] batch) {
    ByteBuffer b =
        Frame.allocate(
            Frame.Kind.TICKET, Frame.peek(batch, 0), Frame.peek(batch, 1), 0, 0, Long.BYTES);
    return Frame.seal(b.putLong(key));
  }

  /**
   * The key of a ticket.
   *
   * @throws io.sparqr.error.WireFormatException if the frame is damaged
   */
  public static long key(byte[] ticket) {
    ByteBuffer b = Frame.open(ticket, Frame.Kind.TICKET);
    Frame.need(b, Long.BYTES);
    long key = b.getLong();
    Frame.end(b);
    return key;
  }

  /** The place of a batch among those of all partitions, from itself or its ticket. */
  public static long place(byte[] frame) {
    return (long) Frame.peek(frame, 0) << 32 | Frame.peek(frame, 1);
  }
}
