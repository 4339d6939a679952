/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda.transfer;

import io.sparqr.backend.cuda.driver.DeviceBuffer;
import java.nio.ByteBuffer;
import java.nio.DoubleBuffer;
import java.nio.LongBuffer;
import java.util.List;

/**
 * The rows of a dense matrix on their way to a buffer of a device, and back, in pieces that several
 * threads write and read. On the device a row is followed by zeros up to the leading dimension. The
 * bits of each column are added up as integers on the way, where they lie in page-locked memory.
 *
 * @param buffer row i begins at i times {@code ld}
 * @param columns of a row
 * @param ld the leading dimension in doubles, at least {@code columns}
 */
public record DenseRows(DeviceBuffer buffer, int columns, int ld) {

  /** Doubles that are written and then added up while they are in a core's cache. */
  private static final int CACHED = 1 << 13;

  private static final double[] NONE = {};

  /** The factors of columns that need none. */
  public static double[] unscaled() {
    return NONE;
  }

  /** As the next one, of rows of their own, without factors. */
  public long[] send(Transfers transfers, Workers workers, double[][] a) {
    return send(
        transfers,
        workers,
        a.length,
        (b, row, some) -> {
          DoubleBuffer to = b.asDoubleBuffer();
          LongBuffer written = b.asLongBuffer();
          long[] bits = new long[columns];
          long[] word = new long[columns];
          for (int i = 0; i < some; i++) {
            put(to, i, a[row + i], 0, NONE, NONE);
            written.get(i * ld, word);
            addTo(bits, word);
          }
          return bits;
        });
  }

  /** Writes some rows; returns the sums of their columns' bits. */
  @FunctionalInterface
  private interface Writer {
    long[] write(ByteBuffer to, int row, int rows);
  }

  private long[] send(Transfers transfers, Workers workers, int rows, Writer writer) {
    long[] bits = new long[columns];
    int step = rowsOf(Transfers.PIECE_BYTES / 8);
    try (Transfers.Queue queue = transfers.queue()) {
      workers.run(
          (rows + step - 1) / step,
          p -> {
            int row = p * step;
            int some = Math.min(step, rows - row);
            queue.send(slice(row, some), b -> add(bits, writer.write(b, row, some)));
          });
    }
    return bits;
  }

  /**
   * Sends a matrix and waits for its arrival.
   *
   * @param a rows x columns, row-major
   * @param scale by column, a factor; none: {@link #unscaled}
   * @return by column, the sum of the bits of what was sent
   */
  public long[] send(Transfers transfers, Workers workers, double[] a, int rows, double[] scale) {
    return send(transfers, workers, rows, (b, row, some) -> write(b, a, row, some, scale));
  }

  private long[] write(ByteBuffer b, double[] a, int row, int rows, double[] scale) {
    DoubleBuffer to = b.asDoubleBuffer();
    LongBuffer written = b.asLongBuffer();
    long[] bits = new long[columns];
    long[] word = new long[columns];
    double[] scaled = new double[scale.length];
    int few = rowsOf(CACHED);
    for (int first = 0; first < rows; first += few) {
      int end = Math.min(first + few, rows);
      if (columns == ld && scale.length == 0) {
        to.put(first * ld, a, (row + first) * columns, (end - first) * columns);
      } else {
        for (int i = first; i < end; i++) {
          put(to, i, a, (row + i) * columns, scale, scaled);
        }
      }
      for (int i = first; i < end; i++) {
        written.get(i * ld, word);
        addTo(bits, word);
      }
    }
    return bits;
  }

  private void put(DoubleBuffer to, int i, double[] a, int at, double[] scale, double[] scaled) {
    if (scale.length == 0) {
      to.put(i * ld, a, at, columns);
    } else {
      for (int j = 0; j < columns; j++) {
        scaled[j] = a[at + j] * scale[j];
      }
      to.put(i * ld, scaled);
    }
    for (int j = columns; j < ld; j++) {
      to.put(i * ld + j, 0);
    }
  }

  /**
   * Fetches a matrix, after all work that was enqueued and awaited.
   *
   * @param a receives rows x columns, row-major
   * @return by column, the sum of the bits of what arrived
   */
  public long[] fetch(Transfers transfers, Workers workers, double[] a, int rows) {
    long[] bits = new long[columns];
    int step = rowsOf(Transfers.PIECE_BYTES / 8);
    workers.run(
        (rows + step - 1) / step,
        p -> {
          int row = p * step;
          int some = Math.min(step, rows - row);
          transfers.fetch(null, List.of(slice(row, some)), b -> add(bits, read(b, a, row, some)));
        });
    return bits;
  }

  private long[] read(ByteBuffer b, double[] a, int row, int rows) {
    DoubleBuffer from = b.asDoubleBuffer();
    LongBuffer arrived = b.asLongBuffer();
    long[] bits = new long[columns];
    long[] word = new long[columns];
    for (int i = 0; i < rows; i++) {
      from.get(i * ld, a, (row + i) * columns, columns);
      arrived.get(i * ld, word);
      addTo(bits, word);
    }
    return bits;
  }

  private static void add(long[] all, long[] some) {
    synchronized (all) {
      addTo(all, some);
    }
  }

  private static void addTo(long[] all, long[] some) {
    for (int j = 0; j < all.length; j++) {
      all[j] += some[j];
    }
  }

  private int rowsOf(int doubles) {
    return Math.max(1, doubles / ld);
  }

  private Transfers.Slice slice(int row, int rows) {
    return new Transfers.Slice(buffer, 8L * ld * row, Math.multiplyExact(8 * ld, rows));
  }
}
