/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.integrity;

import io.sparqr.numeric.FrontFactor;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.BitSet;
import java.util.List;

/** A task's result: the sums over its rows of R and its contribution blocks. */
final class FactorOut {

  /** Values a chunk, about. */
  private static final int CHUNK = 1 << 16;

  private final TaskColumns columns;
  private final List<FrontFactor> fronts;
  private final SubtreeFactor factor;

  FactorOut(TaskColumns columns, SubtreeFactor factor) {
    this.columns = columns;
    this.factor = factor;
    fronts = factor.fronts();
  }

  /** Numbers of the pivot columns that have no row of R. */
  BitSet dead(SymbolicAnalysis analysis) {
    var dead = new BitSet();
    for (FrontFactor f : fronts) {
      int fp = analysis.fp(f.front());
      if (f.rank() < fp) {
        int first = columns.number(analysis.firstPivot(f.front()));
        dead.set(first, first + fp);
        for (int k : f.livePivot()) {
          dead.clear(first + k);
        }
      }
    }
    return dead;
  }

  /** The sums, by several threads; the same figures whatever their number. O(entries). */
  ColumnSums sums(ColumnProbe probe, int threads) {
    var sums = new ColumnSums(probe.scale().length);
    int[] start = new int[fronts.size() + 1];
    int chunks = 0;
    long held = CHUNK;
    for (int f = 0; f < fronts.size(); f++) {
      if (held >= CHUNK) {
        start[chunks++] = f;
        held = 0;
      }
      held += fronts.get(f).values().length + fronts.get(f).fn();
    }
    start[chunks] = fronts.size();
    OrderedChunks.run(chunks, threads, () -> new Chunk(start, probe, sums));
    var block = new FrontSums(probe);
    factor
        .outputs()
        .forEach(
            b -> {
              block.block(columns, b);
              block.addTo(sums);
            });
    return sums;
  }

  /** Sums over a run of fronts. */
  private final class Chunk implements OrderedChunks.Worker {
    private final int[] start;
    private final ColumnSums sums;
    private final FrontSums rows;
    private int[] number = new int[256];

    Chunk(int[] start, ColumnProbe probe, ColumnSums sums) {
      this.start = start;
      this.sums = sums;
      rows = new FrontSums(probe);
    }

    @Override
    public void compute(int chunk) {
      rows.clear();
      for (int f = start[chunk]; f < start[chunk + 1]; f++) {
        add(fronts.get(f));
      }
    }

    private void add(FrontFactor f) {
      if (number.length < f.fn()) {
        number = new int[Math.max(f.fn(), 2 * number.length)];
      }
      columns.numbers(f.front(), number, 0);
      rows.begin(number, 0, f.fn());
      rows.rows(f.values(), 0, f.livePivot(), f.rank(), f.rhs(), 0);
    }

    @Override
    public void takeOver(int chunk) {
      rows.addTo(sums);
    }
  }
}
