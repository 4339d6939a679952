/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.wire;

import io.sparqr.error.IndexOverflowException;
import io.sparqr.error.WireFormatException;
import io.sparqr.numeric.RowBlock;
import io.sparqr.threads.Parallel;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;

/**
 * Rows sent to the task that owns their front. Frame fields: a = source partition, b = index of the
 * batch within it, c = rows, d = right-hand sides. Body:
 *
 * <pre>
 * int    entries
 * int    front[rows]           -1 = singleton row
 * int    length[rows]
 * int    position[entries]
 * double value[entries]
 * double rhs[rows * d]
 * </pre>
 */
public final class RowBatchCodec {

  private RowBatchCodec() {}

  /** Rows collected for one task, to be sent once there are enough. Not thread-safe. */
  public static final class Builder {
    private final int rhsCount;
    private int rows;
    private int entries;
    private int[] front = new int[16];
    private int[] length = new int[16];
    private int[] position = new int[64];
    private double[] value = new double[64];
    private double[] rhs;

    /** Starts an empty batch. */
    public Builder(int rhsCount) {
      this.rhsCount = rhsCount;
      this.rhs = new double[16 * rhsCount];
    }

    /** Appends a row: entries [from, from+count) of the arrays, rhs from rhsFrom on. */
    public void add(
        int rowFront,
        int[] positions,
        double[] values,
        int from,
        int count,
        double[] b,
        int bFrom) {
      if (rows == front.length) {
        front = Arrays.copyOf(front, 2 * rows);
        length = Arrays.copyOf(length, 2 * rows);
        rhs = Arrays.copyOf(rhs, 2 * rows * rhsCount);
      }
      if (entries + count > position.length) {
        int size = Math.max(2 * position.length, entries + count);
        position = Arrays.copyOf(position, size);
        value = Arrays.copyOf(value, size);
      }
      front[rows] = rowFront;
      length[rows] = count;
      System.arraycopy(positions, from, position, entries, count);
      System.arraycopy(values, from, value, entries, count);
      System.arraycopy(b, bFrom, rhs, rows * rhsCount, rhsCount);
      rows++;
      entries += count;
    }

    /** Number of rows held. */
    public int rows() {
      return rows;
    }

    /** Size of the batch in bytes. */
    public long bytes() {
      return Frame.HEADER + 4 + 8L * rows + 12L * entries + 8L * rows * rhsCount;
    }

    /** The batch as a frame; empties the builder. */
    public byte[] take(int partition, int sequence) {
      ByteBuffer b =
          Frame.allocate(
              Frame.Kind.ROWS, partition, sequence, rows, rhsCount, bytes() - Frame.HEADER);
      b.putInt(entries);
      Frame.putInts(b, front, 0, rows);
      Frame.putInts(b, length, 0, rows);
      Frame.putInts(b, position, 0, entries);
      Frame.putDoubles(b, value, 0, entries);
      Frame.putDoubles(b, rhs, 0, rows * rhsCount);
      rows = 0;
      entries = 0;
      return Frame.seal(b);
    }
  }

  /** Number of rows of a batch; the frame is not checked. */
  public static int rows(byte[] batch) {
    return Frame.peek(batch, 2);
  }

  /** The front of a batch's first row; the frame is not checked. */
  public static int firstFront(byte[] batch) {
    return ByteBuffer.wrap(batch).order(ByteOrder.LITTLE_ENDIAN).getInt(Frame.HEADER + 4);
  }

  /** {@link #decode(List, int, int)} in the calling thread alone. */
  public static RowBlock decode(List<byte[]> batches, int rhsCount) {
    return decode(batches, rhsCount, 1);
  }

  /**
   * All rows of a task in one block, ordered by (source partition, batch), which is the order of
   * the input, independent of the order of arrival.
   *
   * @param batches this list is sorted in place; the frames are not modified
   * @param threads threads that check and copy batches in parallel
   * @throws WireFormatException if a batch is damaged or inconsistent
   * @throws IndexOverflowException if the task's rows exceed what one block can address
   */
  public static RowBlock decode(List<byte[]> batches, int rhsCount, int threads) {
    byte[][] sorted = batches.toArray(new byte[0][]);
    Arrays.sort(sorted, RowBatchCodec::compare);
    var open = new ByteBuffer[sorted.length];
    int[] count = new int[sorted.length];
    Parallel.loop(
        sorted.length,
        1,
        threads,
        (from, to, thread) -> {
          open[from] = Frame.open(sorted[from], Frame.Kind.ROWS);
          if (Frame.field(open[from], 3) != rhsCount) {
            throw new WireFormatException(
                "a row batch with " + Frame.field(open[from], 3) + " right-hand sides", "rhs");
          }
          count[from] = entries(open[from]);
        });
    long rows = 0;
    long entries = 0;
    int[] firstRow = new int[sorted.length];
    int[] firstEntry = new int[sorted.length];
    for (int k = 0; k < sorted.length; k++) {
      firstRow[k] = (int) rows;
      firstEntry[k] = (int) entries;
      rows += Frame.field(open[k], 2);
      entries += count[k];
    }
    if (entries > Integer.MAX_VALUE - 8 || rows * Math.max(1, rhsCount) > Integer.MAX_VALUE - 8) {
      throw new IndexOverflowException(
          "one subtree task has " + entries + " entries in " + rows + " rows: cut the tree finer",
          "entries of a task",
          entries);
    }
    int n = (int) rows;
    var block =
        new RowBlock(
            new int[n],
            new int[n + 1],
            new int[(int) entries],
            new double[(int) entries],
            new double[n * rhsCount],
            rhsCount);
    Parallel.loop(
        sorted.length,
        1,
        threads,
        (from, to, thread) ->
            fill(open[from], firstRow[from], firstEntry[from], count[from], block));
    return block;
  }

  /** The entries of one batch, after checking that its length matches its counts exactly. */
  private static int entries(ByteBuffer b) {
    long rows = Frame.field(b, 2);
    long rhsCount = Frame.field(b, 3);
    Frame.need(b, 4);
    int entries = b.getInt();
    Frame.require(rows >= 0 && rhsCount >= 0 && entries >= 0, "sizes of a row batch");
    // One after the other: once the first is known to fit, neither product can overflow.
    Frame.need(b, 8 * rows);
    Frame.require(8 * rows * (1 + rhsCount) + 12L * entries == b.remaining(), "length");
    return entries;
  }

  private static void fill(ByteBuffer b, int row, int at, int entries, RowBlock to) {
    int[] rowStart = to.rowStart();
    int rows = Frame.field(b, 2);
    b.asIntBuffer().get(to.front(), row, rows);
    b.position(b.position() + 4 * rows);
    // The row before the first one belongs to another batch, so each batch writes the ends of its
    // own rows.
    int start = at;
    for (int i = row; i < row + rows; i++) {
      int length = b.getInt();
      Frame.require(length >= 0 && length <= at + entries - start, "lengths of rows");
      Frame.require(to.front()[i] >= -1, "front of a row");
      start += length;
      rowStart[i + 1] = start;
    }
    Frame.require(start == at + entries, "number of entries");
    b.asIntBuffer().get(to.position(), at, entries);
    b.position(b.position() + 4 * entries);
    requirePositions(to.position(), at, entries);
    Frame.getDoubles(b, to.value(), at, entries);
    Frame.getDoubles(b, to.rhs(), row * to.rhsCount(), rows * to.rhsCount());
  }

  private static void requirePositions(int[] position, int from, int count) {
    int all = 0;
    for (int k = from; k < from + count; k++) {
      all |= position[k];
    }
    Frame.require(all >= 0, "positions of a row");
  }

  private static int compare(byte[] x, byte[] y) {
    int c = Integer.compare(Frame.peek(x, 0), Frame.peek(y, 0));
    return c != 0 ? c : Integer.compare(Frame.peek(x, 1), Frame.peek(y, 1));
  }
}
