/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged.layout;

import io.sparqr.backend.schedule.FrontDescriptor;
import io.sparqr.backend.staged.executor.RoundExecutor;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A stage's rows in chunks for a device to sum their columns ({@link RoundExecutor#inputSums},
 * {@link RoundExecutor#outputSums}): records of {@code column_sums.cuh}, little-endian.
 *
 * <pre>
 * 48 bytes: 0 from i64 | 8 to i64 | 16 probes i64 | 24 front | 28 rowFrom | 32 rowTo   i32
 * </pre>
 */
public final class SumChunks {

  /** Bytes of a record. */
  public static final int BYTES = 48;

  static final int FROM = 0;
  static final int TO = 8;
  static final int PROBES = 16;
  static final int FRONT = 24;
  static final int ROW_FROM = 28;
  static final int ROW_TO = 32;

  /** Most rows of a packed chunk: SPARQR_SUM_ROWS. */
  static final int ROWS = 32;

  /** Most S entries of a chunk of several rows: SPARQR_SUM_ENTRIES. */
  static final int ENTRIES = 2048;

  /** Approximate right-hand sides in S per chunk. */
  private static final int RIGHT = 1 << 14;

  /**
   * Approximate entries of a packed chunk; chunks have a minimum number of rows, because each chunk
   * costs one addition per column.
   */
  private static final int PACKED = 1 << 15;

  private static final int LEAST_ROWS = 8;

  private final StageProgram program;
  private ByteBuffer records = ByteBuffer.allocate(1024 * BYTES).order(ByteOrder.LITTLE_ENDIAN);

  private SumChunks(StageProgram program) {
    this.program = program;
  }

  /** Rows of a front in the output buffer: of R, and of its block if that leaves the stage. */
  public static int rows(FrontDescriptor d) {
    return Math.min(d.fm(), d.fp()) + (d.parent() < 0 ? d.cm() : 0);
  }

  /** The first of a front's S entries that is a right-hand side. O(log entries). */
  public static int rightStart(StageProgram program, FrontDescriptor d) {
    int low = (int) d.sFrom();
    int high = (int) d.sTo();
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (Integer.remainderUnsigned(program.sIndex()[middle], d.ld()) >= d.fn()) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }

  /** Chunks of the packed rows in the output buffer. */
  public static ByteBuffer output(StageProgram program) {
    var chunks = new SumChunks(program);
    for (int f = 0; f < program.fronts(); f++) {
      FrontDescriptor d = program.descriptor(f);
      long right = program.outStart(f) + program.outLength(f) - (long) rows(d) * d.rhs();
      chunks.packed(f, d, rows(d), program.outStart(f), right);
    }
    return chunks.records.flip();
  }

  /** Chunks of the packed rows of blocks in the input buffer. */
  public static ByteBuffer blocks(StageProgram program) {
    var chunks = new SumChunks(program);
    for (int b = 0; b < program.blocks(); b++) {
      FrontDescriptor d = program.descriptor(program.fronts() + b);
      chunks.packed(program.fronts() + b, d, d.fm(), d.data(), d.dataRhs());
    }
    return chunks.records.flip();
  }

  /**
   * Chunks of whole rows of S entries, without right-hand sides; a long row alone. O(chunks row
   * length).
   */
  public static ByteBuffer entries(StageProgram program) {
    var chunks = new SumChunks(program);
    long probes = 0;
    for (int f = 0; f < program.fronts(); f++) {
      FrontDescriptor d = program.descriptor(f);
      int end = rightStart(program, d);
      for (int from = (int) d.sFrom(); from < end; ) {
        int to = chunks.rowsEnd(from, end, d.ld());
        chunks.add(from, to, probes, f, 0, 0);
        from = to;
      }
      probes += d.fm();
    }
    return chunks.records.flip();
  }

  /** Chunks of the right-hand sides among the S entries. */
  public static ByteBuffer right(StageProgram program) {
    var chunks = new SumChunks(program);
    long probes = 0;
    for (int f = 0; f < program.fronts() && program.rhs() > 0; f++) {
      FrontDescriptor d = program.descriptor(f);
      int step = Math.max(1, RIGHT / program.rhs()) * program.rhs();
      for (long from = rightStart(program, d); from < d.sTo(); from += step) {
        chunks.add(from, Math.min(d.sTo(), from + step), probes, f, 0, 0);
      }
      probes += d.fm();
    }
    return chunks.records.flip();
  }

  /**
   * The end of a chunk of whole rows, at least one, that starts at {@code from}. O(log entries):
   * the entries of a row are adjacent.
   */
  private int rowsEnd(int from, int end, int ld) {
    int to = Math.min(end, from + ENTRIES);
    if (to == end) {
      return to;
    }
    int low = from;
    int high = to;
    int row = row(to, ld);
    // the first entry of the row that would be cut
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (row(middle, ld) == row) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low > from ? low : rowEnd(to, end, ld);
  }

  /** The end of the row of entry {@code inside}. */
  private int rowEnd(int inside, int end, int ld) {
    int row = row(inside, ld);
    int low = inside + 1;
    int high = end;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (row(middle, ld) == row) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  private int row(int entry, int ld) {
    return Integer.divideUnsigned(program.sIndex()[entry], ld);
  }

  private void packed(int f, FrontDescriptor d, int rows, long at, long right) {
    int step = Math.max(LEAST_ROWS, Math.min(ROWS, PACKED / Math.max(1, d.fn())));
    for (int from = 0; from < rows; from += step) {
      long before = d.packedValues(from);
      int to = Math.min(rows, from + step);
      add(at + before, right + (long) from * d.rhs(), 0, f, from, to);
    }
  }

  private void add(long from, long to, long probes, int front, int rowFrom, int rowTo) {
    if (records.remaining() < BYTES) {
      ByteBuffer more =
          ByteBuffer.allocate(Math.multiplyExact(2, records.capacity()))
              .order(ByteOrder.LITTLE_ENDIAN);
      records = more.put(records.flip());
    }
    int at = records.position();
    records.putLong(at + FROM, from).putLong(at + TO, to).putLong(at + PROBES, probes);
    records.putInt(at + FRONT, front).putInt(at + ROW_FROM, rowFrom).putInt(at + ROW_TO, rowTo);
    records.position(at + BYTES);
  }
}
