/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.reference;

import io.sparqr.backend.schedule.TaskLayout;
import io.sparqr.backend.staged.executor.LargeFrontRows;
import io.sparqr.backend.staged.executor.RoundExecutor.RowPieces;
import io.sparqr.backend.staged.executor.RoundExecutor.RowSink;
import io.sparqr.backend.staged.layout.RowGroups;
import io.sparqr.backend.staged.layout.StageProgram;
import java.nio.DoubleBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Delivers rows round by round, as a device does: those of fronts of more than 100 doubles in parts
 * of so many, each as soon as it is complete, before it is known whether the front is sound.
 */
final class EarlyRows {

  static final int BYTES = 800;

  private final StageProgram program;
  private final double[] out;
  private final int[] state;
  private final RowSink sink;
  private final List<RowGroups.Group> groups;
  private final Map<Integer, LargeFrontRows> large = new HashMap<>();
  private int next;

  /**
   * Before the first round.
   *
   * @param out the output buffer
   * @param state of each front
   */
  EarlyRows(StageProgram program, double[] out, int[] state, RowSink sink) {
    this.program = program;
    this.out = out;
    this.state = state;
    this.sink = sink;
    groups = RowGroups.of(program, BYTES);
    Map<Integer, Integer> parts = new HashMap<>();
    groups.stream().filter(this::isPart).forEach(g -> parts.merge(g.from(), 1, Integer::sum));
    parts.forEach(
        (f, count) -> large.put(f, new LargeFrontRows(sink, f, program.outLength(f), count)));
  }

  private boolean isPart(RowGroups.Group g) {
    return g.to() - g.from() == 1 && 8L * program.outLength(g.from()) > BYTES;
  }

  /** Delivers what a round has completed. */
  void after(int round) {
    for (; next < groups.size() && groups.get(next).ready() == round; next++) {
      RowGroups.Group g = groups.get(next);
      LargeFrontRows rows = large.get(g.from());
      if (rows == null) {
        whole(g);
        continue;
      }
      put(g, rows.rows());
      if (rows.isLast()) {
        rows.end(state[g.from()], to -> putAll(g.from(), to));
      }
    }
  }

  private void whole(RowGroups.Group g) {
    for (int f = g.from(); f < g.to(); f++) {
      if (TaskLayout.isDone(state[f]) && program.outLength(f) > 0) {
        sink.accept(f, rows(program.outStart(f), program.outLength(f)));
      }
    }
  }

  private void putAll(int front, RowPieces to) {
    groups.stream().filter(g -> g.from() == front).forEach(g -> put(g, to));
  }

  private void put(RowGroups.Group g, RowPieces to) {
    int at = (int) (g.begin() - program.outStart(g.from()));
    to.put(at, rows(g.begin(), (int) (g.end() - g.begin())));
  }

  private DoubleBuffer rows(long from, int length) {
    return DoubleBuffer.wrap(out).slice((int) from, length);
  }
}
