/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.wire;

import io.sparqr.error.WireFormatException;
import java.nio.ByteBuffer;

/**
 * Values of some rows of one partition, sent back to it. Frame fields: a = partition, b = rows, c =
 * values of each, d = number of rows of the whole partition, or -1 if another frame has it. Body:
 * int row[b], double value[b * c].
 */
public final class RowValuesCodec {

  private RowValuesCodec() {}

  /**
   * Rows [from, to) of the arrays as a frame.
   *
   * @param row numbers in the partition
   * @param value width values for each row
   */
  public static byte[] encode(
      int partition, int[] row, double[] value, int width, int from, int to) {
    int count = to - from;
    ByteBuffer b =
        Frame.allocate(
            Frame.Kind.ROW_VALUES, partition, count, width, -1, 4L * count + 8L * count * width);
    Frame.putInts(b, row, from, count);
    Frame.putDoubles(b, value, from * width, count * width);
    return Frame.seal(b);
  }

  /** The number of rows of a partition, without values. */
  public static byte[] rows(int partition, int rows) {
    return Frame.seal(Frame.allocate(Frame.Kind.ROW_VALUES, partition, 0, 0, rows, 0));
  }

  /** The partition of a frame; the frame is not checked. */
  public static int partition(byte[] frame) {
    return Frame.peek(frame, 0);
  }

  /** The number of rows of the partition, or -1; the frame is not checked. */
  public static int rows(byte[] frame) {
    return Frame.peek(frame, 3);
  }

  /**
   * Stores the values by row.
   *
   * @param into width values for each row of the partition; a row that is not null has been stored
   * @throws WireFormatException if the frame is damaged, or has rows outside the partition, or rows
   *     that have come before
   */
  public static void decode(byte[] frame, int width, double[][] into) {
    ByteBuffer b = Frame.open(frame, Frame.Kind.ROW_VALUES);
    int count = Frame.field(b, 1);
    int values = Frame.field(b, 2);
    Frame.require(count >= 0 && (values == width || count == 0), "values of a row");
    int[] row = Frame.getInts(b, count);
    Frame.need(b, 8L * Math.min((long) count * width, Integer.MAX_VALUE));
    double[] value = Frame.getDoubles(b, count * width);
    Frame.end(b);
    for (int k = 0; k < count; k++) {
      Frame.require(row[k] >= 0 && row[k] < into.length && into[row[k]] == null, "number of a row");
      into[row[k]] = java.util.Arrays.copyOfRange(value, k * width, (k + 1) * width);
    }
  }
}
