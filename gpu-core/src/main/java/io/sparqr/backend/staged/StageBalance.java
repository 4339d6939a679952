/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged;

import io.sparqr.numeric.CompensatedSums;
import io.sparqr.numeric.ContributionBlock;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.RowBlock;
import io.sparqr.numeric.assembly.RowsByFront;
import io.sparqr.numeric.integrity.Balance;
import io.sparqr.numeric.integrity.ColumnProbe;
import io.sparqr.numeric.integrity.ColumnSums;
import io.sparqr.numeric.integrity.IntegrityFailure;
import io.sparqr.numeric.integrity.RowsIn;
import io.sparqr.numeric.integrity.TaskColumns;
import java.util.BitSet;
import java.util.List;

/**
 * Whether a stage kept the column sums of what went into it: rows of A and blocks from outside, and
 * what it left, both summed where the executor has them; and rows that came to the host afterwards,
 * as they came. That the executor got what the host has, and the host what the executor left,
 * checksums tell. What counts is what is used: a front that pends, or is factored from its rows on
 * the host, counts as if it had not been in the stage, and the blocks of its sound children as
 * leaving it.
 */
final class StageBalance {

  private final StageProgram program;
  private final int[] fronts;
  private final RowsByFront rows;
  private final List<ContributionBlock> blocks;
  private final boolean unitColumns;
  private final int threads;
  private final TaskColumns columns;

  /** The stage's probe; null: nobody has looked for it. */
  private ColumnProbe ahead;

  /** What came out so far. */
  private ColumnSums out;

  private final CompensatedSums residual;

  private RoundExecutor executor;
  private ColumnProbe probe;

  /** What went in, of the fronts that do not pend; null before {@link #left}. */
  private ColumnSums in;

  private boolean[] pends;

  /**
   * For a stage that is about to run.
   *
   * @param fronts of the stage, by number of the analysis
   * @param blocks that go in
   * @param options whether the columns' norms are known, and how many threads there are
   */
  StageBalance(
      StageProgram program,
      int[] fronts,
      RowsByFront rows,
      List<ContributionBlock> blocks,
      FactorOptions options) {
    this.program = program;
    this.fronts = fronts;
    this.rows = rows;
    this.blocks = blocks;
    unitColumns = options.unitColumns();
    threads = options.threads();
    columns = program.columns().all();
    residual = new CompensatedSums(program.rhs());
  }

  /** What can be done while the executor's rounds run, and its sums after them. */
  void lookAhead(RoundExecutor busy) {
    lookAhead();
    busy.sumAhead(program, ahead.scale());
  }

  /** What the host can find out by itself. Once is enough. */
  private void lookAhead() {
    if (ahead == null) {
      var these = new RowsIn(columns, rows.rows(), whichRows(), blocks, threads);
      ahead = unitColumns ? these.unitProbe(new BitSet()) : these.probe(new BitSet());
    }
  }

  /** The stage's rows; null: all. */
  private int[] whichRows() {
    int n = 0;
    for (int f : fronts) {
      n += rows.count(f);
    }
    if (n == rows.rows().rows()) {
      return null;
    }
    int[] which = new int[n];
    int at = 0;
    for (int f : fronts) {
      for (int k = 0; k < rows.count(f); k++) {
        which[at++] = rows.row(f, k);
      }
    }
    return which;
  }

  /**
   * Compares a stage in which every front is sound, where its values are; what it left is in the
   * output buffer, and nothing else. The usual case: three words come down.
   *
   * @param residualSquares all of the stage
   * @param read sum of the bits of the values that went up
   * @param kept sum of the bits of the rows that came down
   * @return the largest relative departure; larger than the bound or NaN: see {@link #left} and
   *     {@link #verify}
   * @throws IntegrityFailure if the executor's values are not the host's
   */
  double whole(RoundExecutor executor, double[] residualSquares, long read, long kept) {
    lookAhead();
    RoundExecutor.Compared found = executor.compare(program, ahead.scale(), residualSquares);
    requireSame(read, found.bitsIn(), "on their way to the executor");
    requireSame(kept, found.bitsOut(), "on their way from the executor");
    return found.departure();
  }

  /** Whether a departure is within the stage's bound. */
  boolean within(double departure) {
    return Balance.within(departure, program.columns().steps());
  }

  /**
   * Leaves the columns out that the executor has dropped: without them what went in and what it
   * left balance as if they had never been there, whereas x_j, left in its row alone, is missing
   * from the probe of the row that it was in.
   *
   * @param sound size fronts
   * @return whether there are any; then {@link #whole} knows nothing of it
   */
  boolean leaveOut(StageRows rows, boolean[] sound) {
    lookAhead();
    double[] scale = ahead.scale().clone();
    boolean any = false;
    for (int f = 0; f < fronts.length; f++) {
      double[] dropped = sound[f] ? rows.dropped(f) : null;
      int first = program.columns().start()[f];
      for (int k = 0; dropped != null && k < dropped.length; k++) {
        if (dropped[k] != 0) {
          scale[program.columns().number()[first + k]] = 0;
          any = true;
        }
      }
    }
    if (any) {
      ahead = new ColumnProbe(ahead.columns(), scale, scale, ahead.plain());
    }
    return any;
  }

  private void requireSame(long host, long executor, String where) {
    if (host != executor) {
      throw new IntegrityFailure(
          "the values of fronts %d to %d changed %s"
              .formatted(fronts[0], fronts[fronts.length - 1], where));
    }
  }

  /**
   * Has the executor sum what went into the fronts that do not pend, and what the sound ones left.
   *
   * @param sound size fronts
   * @param pends size fronts: fronts that did nothing
   * @param read sum of the bits of the values that went up
   * @param kept sum of the bits of the rows of sound fronts that came down
   * @throws IntegrityFailure if the executor's values are not the host's
   */
  void left(RoundExecutor executor, boolean[] sound, boolean[] pends, long read, long kept) {
    this.executor = executor;
    this.pends = pends;
    lookAhead();
    probe = ahead;
    boolean[] counts = new boolean[fronts.length];
    for (int f = 0; f < fronts.length; f++) {
      counts[f] = !pends[f];
    }
    in = new ColumnSums(columns.count() + program.rhs());
    out = new ColumnSums(columns.count() + program.rhs());
    long bitsIn = executor.inputSums(program, probe.scale(), counts, in);
    requireSame(read, bitsIn, "on their way to the executor");
    long bitsOut = executor.outputSums(program, probe.scale(), sound, out);
    requireSame(kept, bitsOut, "on their way from the executor");
  }

  /** Rows that came out of fronts of the stage. */
  void out(RowBlock r) {
    new RowsIn(columns, r, null, List.of(), threads).addTo(out, probe);
  }

  /** Blocks that leave the stage after its rounds. */
  void out(List<ContributionBlock> passed) {
    RowBlock none = RowBlock.empty(program.rhs());
    new RowsIn(columns, none, null, passed, threads).addTo(out, probe);
  }

  /** Squares of right-hand sides that ended in a front that counts, at {@code from} .. + rhs. */
  void outResidual(double[] squares, int from) {
    residual.add(squares, from);
  }

  /**
   * Compares.
   *
   * @param fromRows fronts that are factored from their rows on the host
   * @return the largest relative departure
   * @throws io.sparqr.numeric.integrity.IntegrityFailure if it is too large
   */
  double verify(boolean[] fromRows) {
    ColumnSums went = in;
    if (any(fromRows)) {
      boolean[] counts = new boolean[fronts.length];
      for (int f = 0; f < fronts.length; f++) {
        counts[f] = !pends[f] && !fromRows[f];
      }
      went = new ColumnSums(columns.count() + program.rhs());
      executor.inputSums(program, probe.scale(), counts, went);
    }
    var balance = new Balance(columns, probe, went, program.columns().steps(), threads);
    return balance.verify(out, residual.values(), new BitSet(), 0);
  }

  private static boolean any(boolean[] flags) {
    for (boolean b : flags) {
      if (b) {
        return true;
      }
    }
    return false;
  }
}
