/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;
import java.util.List;

/** Brings rows of a stage's fronts down after its rounds, through lists of PACK_ROWS tasks. */
final class RowFetch {

  /** Doubles that one list brings down, about. */
  private static final int FETCH_DOUBLES = 1 << 27;

  private final RoundExecutor executor;
  private final StageProgram program;
  private final int threads;
  private long doubles;

  RowFetch(RoundExecutor executor, StageProgram program, int threads) {
    this.executor = executor;
    this.program = program;
    this.threads = threads;
  }

  /** Doubles that came down so far. */
  long doubles() {
    return doubles;
  }

  /** Rows [from, to) of front {@code front} of the stage. */
  record Piece(int front, int from, int to) {}

  /** What to do with rows that were fetched. */
  interface FetchedRows {
    void take(Piece piece, DoubleBuffer rows);
  }

  /**
   * Brings pieces down, packed as PACK_ROWS packs them.
   *
   * @param sink takes each piece once, several at a time
   */
  void run(List<Piece> pieces, FetchedRows sink) {
    int k = 0;
    while (k < pieces.size()) {
      long length = 0;
      int first = k;
      while (k < pieces.size()) {
        long more = packedDoubles(pieces.get(k));
        if (k > first && length + more > FETCH_DOUBLES) {
          break;
        }
        length += more;
        k++;
      }
      fetchGroup(pieces.subList(first, k), Math.toIntExact(length), sink);
    }
  }

  private long packedDoubles(Piece p) {
    return program.descriptor(p.front).packedDoubles(p.from, p.to);
  }

  private void fetchGroup(List<Piece> pieces, int length, FetchedRows sink) {
    int count = 0;
    for (Piece p : pieces) {
      count += TaskLayout.tiles(p.to - p.from);
    }
    ByteBuffer list =
        ByteBuffer.allocateDirect(count * TaskLayout.TASK_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    var writer = new TaskWriter(list);
    int[] start = new int[pieces.size() + 1];
    for (int k = 0; k < pieces.size(); k++) {
      Piece p = pieces.get(k);
      FrontDescriptor d = program.descriptor(p.front);
      start[k + 1] = start[k] + (int) packedDoubles(p);
      long right = start[k + 1] - (long) (p.to - p.from) * d.rhs();
      for (int i = p.from; i < p.to; i += TaskLayout.TILE) {
        long done = (long) (i - p.from) * d.rhs();
        long row = start[k] + d.packedDoubles(p.from, i) - done;
        int end = Math.min(p.to, i + TaskLayout.TILE);
        writer.out(TaskLayout.PACK_ROWS, 0, p.front, 0, i, end, row, right + done);
      }
    }
    double[] out = executor.fetch(list, count, length);
    doubles += length;
    Parallel.loop(
        pieces.size(),
        1,
        threads,
        (lo, hi, thread) -> {
          for (int k = lo; k < hi; k++) {
            sink.take(pieces.get(k), DoubleBuffer.wrap(out, start[k], start[k + 1] - start[k]));
          }
        });
  }
}
