/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The rows of a stage's output buffer in chunks for a device to sum their columns ({@link
 * RoundExecutor#columnSums}): records of {@code column_sums.cuh}, little-endian.
 *
 * <pre>
 * 32 bytes: 0 out i64 | 8 outRhs i64 | 16 front | 20 rowFrom | 24 rowTo   i32
 * </pre>
 */
public final class SumChunks {

  /** Bytes of a record. */
  public static final int BYTES = 32;

  /** Rows of a chunk at most: SPARQR_SUM_ROWS of the kernel. */
  static final int ROWS = 32;

  /**
   * Entries of a chunk, about; but at least so many rows, since each costs an addition a column.
   */
  private static final int ENTRIES = 1 << 15;

  private static final int LEAST_ROWS = 8;

  private SumChunks() {}

  /** Rows of a front in the output buffer: of R, and of its block if that leaves the stage. */
  static int rows(FrontDescriptor d) {
    return Math.min(d.fm(), d.fp()) + (d.parent() < 0 ? d.cm() : 0);
  }

  private static int step(FrontDescriptor d) {
    return Math.max(LEAST_ROWS, Math.min(ROWS, ENTRIES / Math.max(1, d.fn())));
  }

  /** Number of chunks. O(fronts). */
  public static long count(StageProgram program) {
    long count = 0;
    for (int f = 0; f < program.fronts(); f++) {
      FrontDescriptor d = program.descriptor(f);
      count += (rows(d) + step(d) - 1) / step(d);
    }
    return count;
  }

  /** All of them, large fronts cut into many. */
  public static ByteBuffer of(StageProgram program) {
    int bytes = Math.toIntExact(BYTES * count(program));
    ByteBuffer b = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    for (int f = 0; f < program.fronts(); f++) {
      FrontDescriptor d = program.descriptor(f);
      int rows = rows(d);
      long right = program.outStart(f) + program.outLength(f) - (long) rows * d.rhs();
      for (int from = 0; from < rows; from += step(d)) {
        long before = (long) from * d.fn() - (long) from * (from - 1) / 2;
        b.putLong(program.outStart(f) + before);
        b.putLong(right + (long) from * d.rhs());
        b.putInt(f).putInt(from).putInt(Math.min(rows, from + step(d))).putInt(0);
      }
    }
    return b.flip();
  }
}
