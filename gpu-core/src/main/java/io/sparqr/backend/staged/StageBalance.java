/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged;

import io.sparqr.backend.staged.executor.RoundExecutor;
import io.sparqr.backend.staged.layout.StageProgram;
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
import org.jspecify.annotations.Nullable;

/**
 * Checks that a stage preserved the column sums of its input. The input (rows of A and blocks from
 * outside) and the output are summed on the executor, and rows fetched afterwards are summed on the
 * host; checksums show that both sides have the same values. Only values in use are compared: a
 * front that stays pending, or is factored on the host from its rows, counts as outside the stage,
 * and the blocks of its sound children as leaving it.
 */
final class StageBalance {

  /** What a dropped column counts in the probe; a power of two, so that sums can be scaled back. */
  private static final double DEAD_PART = 0x1p-16;

  private final StageProgram program;
  private final int[] fronts;
  private final RowsByFront rows;
  private final List<ContributionBlock> blocks;
  private final boolean unitColumns;
  private final int threads;
  private final double tolerance;
  private final TaskColumns columns;

  /** The stage's probe, once it is computed. */
  private @Nullable ColumnProbe ahead;

  /** The sums of the output so far. */
  private ColumnSums out;

  private final CompensatedSums residual;

  private RoundExecutor executor;
  private ColumnProbe probe;

  /** The sums of the input of fronts that are not pending. */
  private ColumnSums in;

  private boolean[] pends;

  /** Numbers of the columns that the executor has dropped. */
  private final BitSet dead = new BitSet();

  /** The largest dropped norm; at most the tolerance. */
  private double dropped;

  /**
   * A check for a stage about to run.
   *
   * @param fronts of the stage, by number of the analysis
   * @param blocks the input blocks
   * @param options give the number of threads and whether column norms are known
   */
  @SuppressWarnings("NullAway.Init") // the sums begin in left()
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
    tolerance = options.rankTolerance();
    columns = program.columns().all();
    residual = new CompensatedSums(program.rhs());
  }

  /** Does the host's part while the executor's rounds run, and requests its sums after them. */
  void lookAhead(RoundExecutor busy) {
    busy.sumAhead(program, aheadProbe().scale());
  }

  /** The probe, computed on the host once. */
  private ColumnProbe aheadProbe() {
    ColumnProbe known = ahead;
    if (known == null) {
      var these = new RowsIn(columns, rows.rows(), whichRows(), blocks, threads);
      known = unitColumns ? these.unitProbe(new BitSet()) : these.probe(new BitSet());
      ahead = known;
    }
    return known;
  }

  /** Numbers of the stage's rows, unless they are all. */
  private int @Nullable [] whichRows() {
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
   * Compares a stage of sound fronts on the executor; its output buffer holds the stage's output
   * and nothing else. The usual case, with a download of three words.
   *
   * @param residualSquares all of the stage
   * @param read sum of the bits of the uploaded values
   * @param kept sum of the bits of the downloaded rows
   * @return the largest relative departure; larger than the bound or NaN: see {@link #left} and
   *     {@link #verify}
   * @throws IntegrityFailure if the executor's values are not the host's
   */
  double whole(RoundExecutor executor, double[] residualSquares, long read, long kept) {
    RoundExecutor.Compared found = compare(executor, residualSquares, read);
    requireSame(kept, found.bitsOut(), "on their way from the executor");
    return found.departure();
  }

  /** As above, for a stage whose rows stay on the executor, with the sum of their bits there. */
  RoundExecutor.Compared compare(RoundExecutor executor, double[] residualSquares, long read) {
    RoundExecutor.Compared found = executor.compare(program, aheadProbe().scale(), residualSquares);
    requireSame(read, found.bitsIn(), "on their way to the executor");
    return found;
  }

  /** Whether a departure is within the stage's bound. */
  boolean within(double departure) {
    return Balance.within(departure, program.columns().steps());
  }

  /**
   * Makes the columns dropped by the executor small in the probe: a dropped norm, alone in its row,
   * is missing from the probe of its original row, and should not hide what the other columns have
   * lost. Their own sums are compared like all others.
   *
   * @param sound size fronts
   * @return whether there are any; then {@link #whole} cannot be used
   */
  boolean weighDropped(StageRows rows, boolean[] sound) {
    for (int f = 0; f < fronts.length; f++) {
      double[] norms = sound[f] ? rows.dropped(f) : null;
      int first = program.columns().start()[f];
      for (int k = 0; norms != null && k < norms.length; k++) {
        if (norms[k] != 0) {
          dead.set(program.columns().number()[first + k]);
          dropped = Math.max(dropped, Math.min(Math.abs(norms[k]), tolerance));
        }
      }
    }
    if (dead.isEmpty()) {
      return false;
    }
    ColumnProbe all = aheadProbe();
    double[] u = all.scale().clone();
    for (int j = dead.nextSetBit(0); j >= 0; j = dead.nextSetBit(j + 1)) {
      u[j] *= DEAD_PART;
    }
    ahead = new ColumnProbe(all.columns(), all.scale(), u, all.plain());
    return true;
  }

  /** The executor knows one factor a column, for both sums: the part in the probe. */
  private void fromPart(ColumnSums sums) {
    for (int j = dead.nextSetBit(0); j >= 0; j = dead.nextSetBit(j + 1)) {
      sums.scale(j, 1 / (DEAD_PART * DEAD_PART), 1 / DEAD_PART);
    }
  }

  private void requireSame(long host, long executor, String where) {
    if (host != executor) {
      throw new IntegrityFailure(
          "the values of fronts %d to %d changed %s"
              .formatted(fronts[0], fronts[fronts.length - 1], where));
    }
  }

  /**
   * Lets the executor sum the input of the fronts that are not pending and the output of the sound
   * ones.
   *
   * @param sound size fronts
   * @param pends size fronts: fronts that did nothing
   * @param read sum of the bits of the uploaded values
   * @param kept sum of the bits of the downloaded rows of sound fronts
   * @throws IntegrityFailure if the executor's values are not the host's
   */
  void left(RoundExecutor executor, boolean[] sound, boolean[] pends, long read, long kept) {
    this.executor = executor;
    this.pends = pends;
    probe = aheadProbe();
    boolean[] counts = new boolean[fronts.length];
    for (int f = 0; f < fronts.length; f++) {
      counts[f] = !pends[f];
    }
    in = new ColumnSums(columns.count() + program.rhs());
    out = new ColumnSums(columns.count() + program.rhs());
    long bitsIn = executor.inputSums(program, probe.u(), counts, in);
    requireSame(read, bitsIn, "on their way to the executor");
    long bitsOut = executor.outputSums(program, probe.u(), sound, out);
    requireSame(kept, bitsOut, "on their way from the executor");
    fromPart(in);
    fromPart(out);
  }

  /** Adds output rows of fronts of the stage. */
  void out(RowBlock r) {
    new RowsIn(columns, r, null, List.of(), threads).addTo(out, probe);
  }

  /** Adds blocks that leave the stage after its rounds. */
  void out(List<ContributionBlock> passed) {
    RowBlock none = RowBlock.empty(program.rhs());
    new RowsIn(columns, none, null, passed, threads).addTo(out, probe);
  }

  /** Adds squares of right-hand sides that end in an included front, at {@code from} .. + rhs. */
  void outResidual(double[] squares, int from) {
    residual.add(squares, from);
  }

  /**
   * Compares the sums.
   *
   * @param fromRows fronts factored from their rows on the host
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
      executor.inputSums(program, probe.u(), counts, went);
      fromPart(went);
    }
    var balance = new Balance(columns, probe, went, program.columns().steps(), threads);
    return balance.verify(out, residual.values(), dead, dropped);
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
