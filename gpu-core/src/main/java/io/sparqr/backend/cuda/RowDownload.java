/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import io.sparqr.backend.cuda.StageMemory.Part;
import io.sparqr.backend.schedule.TaskLayout;
import io.sparqr.backend.staged.RoundExecutor.RowSink;
import io.sparqr.backend.staged.StageProgram;
import java.nio.ByteBuffer;
import java.nio.DoubleBuffer;
import java.util.List;

/** The rows of R of a stage's sound fronts, brought down group by group. Thread-safe. */
final class RowDownload {

  /** Bytes from which on a front's rows go through the heap. */
  private static final long LARGE_BYTES = 1L << 30;

  private final Transfers transfers;
  private final StageMemory memory;
  private final StageProgram program;
  private final RowSink sink;

  RowDownload(Transfers transfers, StageMemory memory, StageProgram program, RowSink sink) {
    this.transfers = transfers;
    this.memory = memory;
    this.program = program;
    this.sink = sink;
  }

  /** Waits for a group's rows and hands them out. */
  void run(LaunchPlan.Group group, CudaEvent ready) {
    long start = program.outStart(group.from());
    long bytes = 8 * (program.outStart(group.to()) - start);
    if (bytes > LARGE_BYTES) {
      throughTheHeap(group.from(), ready);
      return;
    }
    for (int f = group.from(); f < group.to(); f++) {
      sink.expect(f);
    }
    transfers.fetch(
        ready,
        List.of(rows(start, bytes / 8), states(group.from(), group.to())),
        b -> handOut(group, start, b));
  }

  /** Rows, then states of a group's fronts. */
  private void handOut(LaunchPlan.Group group, long start, ByteBuffer buffer) {
    int states = buffer.capacity() - 4 * (group.to() - group.from());
    for (int f = group.from(); f < group.to(); f++) {
      int at = (int) (8 * (program.outStart(f) - start));
      int length = 8 * program.outLength(f);
      int state = buffer.getInt(states + 4 * (f - group.from()));
      if (state == TaskLayout.STATE_SOUND && length > 0) {
        sink.accept(f, buffer.slice(at, length).order(buffer.order()).asDoubleBuffer());
      }
    }
  }

  /** One front whose rows exceed a staging buffer, piece by piece. */
  private void throughTheHeap(int f, CudaEvent ready) {
    int[] state = new int[1];
    transfers.fetch(ready, List.of(states(f, f + 1)), b -> state[0] = b.getInt(0));
    if (state[0] != TaskLayout.STATE_SOUND) {
      return;
    }
    double[] rows = new double[program.outLength(f)];
    int step = Transfers.PIECE_BYTES / 8;
    for (long begin = 0; begin < rows.length; begin += step) {
      int at = (int) begin;
      int count = Math.min(step, rows.length - at);
      transfers.fetch(
          null,
          List.of(rows(program.outStart(f) + at, count)),
          b -> b.asDoubleBuffer().get(rows, at, count));
    }
    sink.accept(f, DoubleBuffer.wrap(rows));
  }

  private Transfers.Slice rows(long from, long count) {
    return new Transfers.Slice(memory.get(Part.OUT), 8 * from, (int) (8 * count));
  }

  private Transfers.Slice states(int from, int to) {
    return new Transfers.Slice(memory.get(Part.STATE), 4L * from, 4 * (to - from));
  }
}
