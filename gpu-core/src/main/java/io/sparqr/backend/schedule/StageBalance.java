/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

import io.sparqr.numeric.ContributionBlock;
import io.sparqr.numeric.RowBlock;
import io.sparqr.numeric.integrity.Balance;
import io.sparqr.numeric.integrity.ColumnProbe;
import io.sparqr.numeric.integrity.ColumnSums;
import io.sparqr.numeric.integrity.RowsIn;
import io.sparqr.numeric.integrity.Steps;
import io.sparqr.numeric.integrity.TaskColumns;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

/**
 * Whether a stage kept the column sums of what went into it: rows of A and blocks from outside,
 * summed on the host while the executor works; what it left, summed by the executor; and rows that
 * came to the host afterwards, as they came. What counts is what is used: a front that pends, or is
 * factored from its rows on the host, counts as if it had not been in the stage, and the blocks of
 * its sound children as leaving it.
 */
final class StageBalance {

  private final StageProgram program;
  private final int[] fronts;
  private final FrontRows rows;
  private final List<ContributionBlock> blocks;
  private final int threads;
  private final TaskColumns columns;
  private final FutureTask<Side> ahead;
  private final ColumnSums out;
  private final double[] residual;

  /** What went in, of the fronts that do not pend; null before {@link #left}. */
  private Side in;

  private boolean[] pends;

  /** A side of the comparison. */
  private record Side(ColumnProbe probe, ColumnSums sums) {}

  /**
   * Starts to sum what goes in, on a thread of its own.
   *
   * @param fronts of the stage, by number of the analysis
   * @param blocks that go in
   */
  StageBalance(
      StageProgram program,
      int[] fronts,
      FrontRows rows,
      List<ContributionBlock> blocks,
      int threads) {
    this.program = program;
    this.fronts = fronts;
    this.rows = rows;
    this.blocks = blocks;
    this.threads = threads;
    columns = program.columns().all();
    out = new ColumnSums(columns.count() + program.rhs());
    residual = new double[program.rhs()];
    ahead = new FutureTask<>(() -> side(f -> true));
    var thread = new Thread(ahead, "sparqr-sums");
    thread.setDaemon(true);
    thread.start();
  }

  private Side side(IntPredicate counts) {
    RowsIn these = in(counts);
    ColumnProbe probe = these.probe(new BitSet());
    return new Side(probe, these.sums(probe));
  }

  /** What goes into the fronts of the stage that count. */
  private RowsIn in(IntPredicate counts) {
    int n = 0;
    for (int f = 0; f < fronts.length; f++) {
      n += counts.test(f) ? rows.count(fronts[f]) : 0;
    }
    int[] which = null;
    if (n < rows.rows().rows()) {
      which = new int[n];
      int at = 0;
      for (int f = 0; f < fronts.length; f++) {
        for (int k = 0; counts.test(f) && k < rows.count(fronts[f]); k++) {
          which[at++] = rows.row(fronts[f], k);
        }
      }
    }
    List<ContributionBlock> some =
        IntStream.range(0, blocks.size())
            .filter(b -> counts.test(program.descriptor(program.fronts() + b).parent()))
            .mapToObj(blocks::get)
            .toList();
    return new RowsIn(columns, rows.rows(), which, some, threads);
  }

  /**
   * Waits for the sums of what went in and has the executor sum what the sound fronts left.
   *
   * @param pends size fronts: fronts that did nothing
   */
  void left(RoundExecutor executor, int[] state, boolean[] pends) {
    this.pends = pends;
    Side all = await();
    in = any(pends) ? side(f -> !pends[f]) : all;
    boolean[] sound = new boolean[fronts.length];
    for (int f = 0; f < fronts.length; f++) {
      sound[f] = state[f] == 0 && !pends[f];
    }
    double norm = Balance.probeNorm(in.probe, in.sums);
    executor.columnSums(program, in.probe.scale(), sound, norm, out);
  }

  /** Lets the sums of what went in come to their end: the stage is not run after all. */
  void abandon() {
    await();
  }

  private Side await() {
    boolean interrupted = false;
    while (true) {
      try {
        Side side = ahead.get();
        if (interrupted) {
          Thread.currentThread().interrupt();
        }
        return side;
      } catch (InterruptedException e) {
        interrupted = true;
      } catch (ExecutionException e) {
        throw e.getCause() instanceof RuntimeException r
            ? r
            : new CompletionException(e.getCause());
      }
    }
  }

  /** Rows that came out of fronts of the stage. */
  void out(RowBlock r) {
    new RowsIn(columns, r, null, List.of(), threads).addTo(out, in.probe);
  }

  /** Blocks that leave the stage after its rounds. */
  void out(List<ContributionBlock> passed) {
    RowBlock none = RowBlock.empty(program.rhs());
    new RowsIn(columns, none, null, passed, threads).addTo(out, in.probe);
  }

  /** Squares of right-hand sides that ended in a front that counts, at {@code from} .. + rhs. */
  void outResidual(double[] squares, int from) {
    for (int q = 0; q < residual.length; q++) {
      residual[q] += squares[from + q];
    }
  }

  /**
   * Compares.
   *
   * @param fromRows fronts that are factored from their rows on the host
   * @return the largest relative departure
   * @throws io.sparqr.numeric.integrity.IntegrityFailure if it is too large
   */
  double verify(boolean[] fromRows) {
    ColumnSums went = any(fromRows) ? in(f -> !pends[f] && !fromRows[f]).sums(in.probe) : in.sums;
    var balance = new Balance(columns, in.probe, went, steps());
    return balance.verify(out, residual, new BitSet(), 0);
  }

  /** Reflectors that a column passes through on a path of the stage. */
  private long steps() {
    long[] below = new long[fronts.length];
    for (int f = 0; f < fronts.length; f++) {
      FrontDescriptor d = program.descriptor(f);
      below[f] += Steps.ofFront(d.fm(), d.fn());
      if (d.parent() >= 0) {
        below[d.parent()] = Math.max(below[d.parent()], below[f]);
      }
    }
    return Arrays.stream(below).max().orElse(0);
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
