/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;
import java.util.List;
import java.util.function.IntUnaryOperator;

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

  /** What to do with rows that were fetched. */
  interface FetchedRows {
    void take(int f, DoubleBuffer rows);
  }

  /** Brings rows [from, to) of fronts of the stage down, packed as PACK_ROWS packs them. */
  void run(List<Integer> which, IntUnaryOperator from, IntUnaryOperator to, FetchedRows sink) {
    int k = 0;
    while (k < which.size()) {
      long length = 0;
      int first = k;
      while (k < which.size()) {
        int f = which.get(k);
        FrontDescriptor d = program.descriptor(f);
        long more = packedLength(d, from.applyAsInt(f), to.applyAsInt(f));
        if (k > first && length + more > FETCH_DOUBLES) {
          break;
        }
        length += more;
        k++;
      }
      fetchGroup(which.subList(first, k), from, to, Math.toIntExact(length), sink);
    }
  }

  private static long packedLength(FrontDescriptor d, long from, long to) {
    return (to - from) * (d.fn() + d.rhs()) - (to * (to - 1) - from * (from - 1)) / 2;
  }

  private void fetchGroup(
      List<Integer> which,
      IntUnaryOperator from,
      IntUnaryOperator to,
      int length,
      FetchedRows sink) {
    int count = 0;
    for (int f : which) {
      count += TaskLayout.tiles(to.applyAsInt(f) - from.applyAsInt(f));
    }
    ByteBuffer list =
        ByteBuffer.allocateDirect(count * TaskLayout.TASK_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    var writer = new TaskWriter(list);
    long at = 0;
    for (int f : which) {
      FrontDescriptor d = program.descriptor(f);
      int first = from.applyAsInt(f);
      int end = to.applyAsInt(f);
      long all = packedLength(d, first, end);
      long right = at + all - (long) (end - first) * d.rhs();
      for (int i = first; i < end; i += TaskLayout.TILE) {
        long row = at + packedLength(d, first, i) - (long) (i - first) * d.rhs();
        int rowTo = Math.min(end, i + TaskLayout.TILE);
        long rowRight = right + (long) (i - first) * d.rhs();
        writer.out(TaskLayout.PACK_ROWS, 0, f, 0, i, rowTo, row, rowRight);
      }
      at += all;
    }
    double[] out = executor.fetch(list, count, length);
    doubles += length;
    int[] start = new int[which.size() + 1];
    for (int k = 0; k < which.size(); k++) {
      int f = which.get(k);
      FrontDescriptor d = program.descriptor(f);
      start[k + 1] = start[k] + (int) packedLength(d, from.applyAsInt(f), to.applyAsInt(f));
    }
    Parallel.loop(
        which.size(),
        1,
        threads,
        (lo, hi, thread) -> {
          for (int k = lo; k < hi; k++) {
            DoubleBuffer rows = DoubleBuffer.wrap(out, start[k], start[k + 1] - start[k]);
            sink.take(which.get(k), rows);
          }
        });
  }
}
