/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.wire;

import io.sparqr.error.WireFormatException;
import java.nio.ByteBuffer;

/**
 * Leverages of some rows of one partition, sent back to it. Frame fields: a = partition, b = rows.
 * Body: int row[b], double value[b].
 */
public final class LeverageCodec {

  private LeverageCodec() {}

  /** Rows [from, to) of the arrays as a frame. */
  public static byte[] encode(int partition, int[] row, double[] value, int from, int to) {
    int count = to - from;
    ByteBuffer b = Frame.allocate(Frame.Kind.LEVERAGE, partition, count, 0, 0, 12L * count);
    Frame.putInts(b, row, from, count);
    Frame.putDoubles(b, value, from, count);
    return Frame.seal(b);
  }

  /** The partition of a frame; the frame is not checked. */
  public static int partition(byte[] frame) {
    return Frame.peek(frame, 0);
  }

  /**
   * Stores the values by row.
   *
   * @param into one value for each row of the partition
   * @throws WireFormatException if the frame is damaged, or has rows outside the partition
   */
  public static void decode(byte[] frame, double[] into) {
    ByteBuffer b = Frame.open(frame, Frame.Kind.LEVERAGE);
    int count = Frame.field(b, 1);
    Frame.require(count >= 0 && 12L * count == b.remaining(), "length");
    int[] row = Frame.getInts(b, count);
    double[] value = Frame.getDoubles(b, count);
    Frame.end(b);
    for (int k = 0; k < count; k++) {
      Frame.require(row[k] >= 0 && row[k] < into.length, "number of a row");
      into[row[k]] = value[k];
    }
  }
}
