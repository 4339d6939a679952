/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.integrity;

import io.sparqr.numeric.FrontFactor;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.nio.DoubleBuffer;
import java.util.BitSet;
import java.util.List;

/** A task's result: the sums over its rows of R and its contribution blocks. */
final class FactorOut {

  /** Approximate values per chunk. */
  private static final int CHUNK = 1 << 15;

  /** Rows per piece are a multiple of this: {@link FrontSums} adds four at a time. */
  private static final int ROWS = 4;

  private final TaskColumns columns;
  private final List<FrontFactor> fronts;
  private final SubtreeFactor factor;
  private final SymbolicAnalysis analysis;
  private final int[] taskFronts;
  private final int[] ranks;

  /** Takes a result and numbers its fronts. */
  FactorOut(SubtreeProblem problem, TaskColumns columns, SubtreeFactor factor) {
    this.columns = columns;
    analysis = problem.analysis();
    taskFronts = problem.fronts();
    this.factor = factor;
    fronts = factor.fronts();
    ranks = ranks(problem, factor);
  }

  /**
   * Ranks of a task's fronts, gathered once: they lie far apart in memory, and in a loop with
   * nothing else the cache misses overlap.
   *
   * @throws IntegrityFailure if the result has other fronts than the task
   */
  static int[] ranks(SubtreeProblem problem, SubtreeFactor factor) {
    int[] task = problem.fronts();
    List<FrontFactor> fronts = factor.fronts();
    int[] rank = new int[task.length];
    boolean same = fronts.size() == task.length;
    for (int i = 0; i < Math.min(fronts.size(), task.length); i++) {
      FrontFactor f = fronts.get(i);
      same &= f.front() == task[i] & f.fn() == problem.analysis().fn(task[i]);
      rank[i] = f.rank();
    }
    if (!same) {
      throw new IntegrityFailure("the fronts of a result are not those of its task");
    }
    return rank;
  }

  /** Rank of each front, in the order of the fronts. */
  int[] ranks() {
    return ranks;
  }

  /** Numbers of the pivot columns that have no row of R. */
  BitSet dead() {
    var dead = new BitSet();
    for (int i = 0; i < ranks.length; i++) {
      int f = taskFronts[i];
      int fp = analysis.fp(f);
      if (ranks[i] < fp) {
        int first = columns.number(analysis.firstPivot(f));
        dead.set(first, first + fp);
        for (int k : fronts.get(i).livePivot()) {
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
      held += (1L + ranks[f]) * analysis.fn(taskFronts[f]);
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
    private double[] piece = new double[256];

    Chunk(int[] start, ColumnProbe probe, ColumnSums sums) {
      this.start = start;
      this.sums = sums;
      rows = new FrontSums(probe);
    }

    @Override
    public void compute(int chunk) {
      rows.clear();
      for (int f = start[chunk]; f < start[chunk + 1]; f++) {
        add(fronts.get(f), taskFronts[f], ranks[f]);
      }
    }

    private void add(FrontFactor f, int front, int rank) {
      int fn = analysis.fn(front);
      if (number.length < fn) {
        number = new int[Math.max(fn, 2 * number.length)];
      }
      columns.numbers(front, number, 0);
      rows.begin(number, 0, fn);
      int[] live = f.livePivot();
      int rhs = f.rhsCount();
      int at = 0;
      for (int from = 0, to; from < rank; from = to) {
        to = from;
        int length = 0;
        do {
          length += fn - live[to++];
        } while (to < rank && (length < CHUNK || (to - from) % ROWS != 0));
        copy(f.values(), at, length);
        rows.rows(piece, 0, live, from, to, f.rhs(), from * rhs);
        at += length;
      }
    }

    /** Sums take arrays: loops over buffers outside the heap are not vectorized. */
    private void copy(DoubleBuffer values, int at, int length) {
      if (piece.length < length) {
        piece = new double[Math.max(length, 2 * piece.length)];
      }
      values.get(at, piece, 0, length);
    }

    @Override
    public void takeOver(int chunk) {
      rows.addTo(sums);
    }
  }
}
