/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged.solve;

import io.sparqr.backend.schedule.FrontDescriptor;
import io.sparqr.backend.staged.layout.StageProgram;
import io.sparqr.backend.staged.solve.SolveItem.Wait;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** The items of one front, written to its part of a list. */
record SolveItemWriter(ByteBuffer list, long out, long outRhs, FrontDescriptor d, int start) {

  /** Writes items from {@code first} to {@code end} of a list. */
  static SolveItemWriter of(ByteBuffer all, int first, int end, SolveTree tree, int f) {
    StageProgram program = tree.program();
    FrontDescriptor d = tree.front(f);
    ByteBuffer list =
        all.slice(first * SolveItem.BYTES, (end - first) * SolveItem.BYTES)
            .order(ByteOrder.LITTLE_ENDIAN);
    // right-hand sides follow the values of R and of the block, if that leaves the stage
    long right = program.outStart(f) + d.packedDoubles(0, d.fp()) - (long) d.fp() * d.rhs();
    if (d.parent() < 0) {
      right += d.packedDoubles(d.fp(), d.fp() + d.cm()) - (long) d.cm() * d.rhs();
    }
    return new SolveItemWriter(list, program.outStart(f), right, d, tree.start(f));
  }

  /** Rows and columns [from, to); two counts to wait for; a count to raise, or -1. */
  void put(int kind, int[] rows, int[] columns, Wait wait, Wait also, int signal) {
    list.putLong(out).putLong(outRhs).putInt(kind).putInt(d.fn()).putInt(d.fp()).putInt(start);
    list.putInt(rows[0]).putInt(rows[1]).putInt(columns[0]).putInt(columns[1]);
    put(wait).put(also).list.putInt(signal).putInt(0).putInt(0).putInt(0);
  }

  private SolveItemWriter put(Wait wait) {
    list.putInt(wait.reached() == 0 ? -1 : wait.count()).putInt(wait.reached());
    return this;
  }
}
