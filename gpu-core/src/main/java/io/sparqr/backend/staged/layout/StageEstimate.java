/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged.layout;

import io.sparqr.backend.schedule.SchedulerOptions;
import io.sparqr.backend.schedule.StageFronts;
import io.sparqr.backend.schedule.TaskLayout;
import io.sparqr.numeric.ContributionBlock;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.assembly.RowsByFront;
import io.sparqr.partition.StagePlan;
import io.sparqr.symbolic.FrontMemory;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.Arrays;
import java.util.function.IntToLongFunction;

/**
 * Estimates how many of the remaining fronts fit into the next stage (SQR section 3.4); the exact
 * bytes are known when the stage is built.
 */
public final class StageEstimate {

  /** Limit for the entries of a front on the device, padding included. */
  static final long MOST_ENTRIES = 1L << 32;

  /** Bytes assigned to a front that cannot go to the device. */
  private static final long BEYOND = 1L << 60;

  private final SymbolicAnalysis analysis;
  private final RowsByFront rows;
  private final SchedulerOptions options;
  private final boolean keepQ;

  /** Whether tiled fronts have a row tile for the leftover rows of dead columns. */
  private final boolean drops;

  private final int rhs;

  /** An estimate for one subtree task. */
  public StageEstimate(
      SymbolicAnalysis analysis, RowsByFront rows, SchedulerOptions options, FactorOptions factor) {
    this.analysis = analysis;
    this.rows = rows;
    this.options = options;
    keepQ = factor.keepQ();
    drops = factor.rankTolerance() >= 0 && !keepQ;
    this.rhs = rows.rows().rhsCount();
  }

  /**
   * The number of pending fronts in the next stage, at least one. Planned anew for each stage, with
   * the current sizes of the fronts.
   *
   * @param pending ascending
   * @param blocks of the fronts before them
   * @param budget bytes
   */
  public int prefix(int[] pending, BlockShapes blocks, long budget) {
    int[] place = new int[analysis.fronts()];
    long[] bytes = new long[pending.length];
    long[] fm = new long[pending.length];
    for (int t = 0; t < pending.length; t++) {
      place[pending[t]] = t + 1;
    }
    boolean none = blocks.isEmpty();
    for (int t = 0; t < pending.length; t++) {
      int f = pending[t];
      fm[t] += rows.count(f);
      for (int k = 0; !none && k < analysis.childCount(f); k++) {
        fm[t] += rows(blocks, analysis.child(f, k));
      }
      int cm = StageFronts.contributionRows(fm[t], analysis.fn(f), analysis.fp(f));
      int p = analysis.parent(f);
      if (p >= 0 && place[p] > 0) {
        fm[place[p] - 1] += cm;
      }
      bytes[t] =
          fm[t] > MOST_ENTRIES / (analysis.fn(f) + rhs)
              ? BEYOND
              : (long) frontBytes(fm[t], analysis.fn(f), analysis.fp(f)) + 12 * rows.entries(f);
    }
    int[] in = blocks.inputs(analysis, pending).stream().mapToInt(BlockShape::front).toArray();
    return prefix(
        pending, in, f -> bytes[place[f] - 1], f -> blockBytes(f, blocks, place, fm), budget);
  }

  /**
   * Whether a front whose children are done has far more rows than columns, so that the host can
   * merge its rows chunk by chunk.
   */
  public boolean isTall(int f, BlockShapes blocks) {
    long fm = rows.count(f);
    for (int k = 0; k < analysis.childCount(f); k++) {
      fm += rows(blocks, analysis.child(f, k));
    }
    return FrontMemory.isTall(fm, analysis.fn(f), rhs);
  }

  private static int rows(BlockShapes blocks, int front) {
    BlockShape s = blocks.shape(front);
    return s == null ? 0 : s.cm();
  }

  private int prefix(
      int[] fronts, int[] in, IntToLongFunction bytes, IntToLongFunction ofBlock, long budget) {
    StagePlan.Outcome outcome =
        StagePlan.plan(fronts, analysis::parent, in, bytes, ofBlock, budget);
    if (outcome instanceof StagePlan.Feasible feasible) {
      return feasible.plan().stageStart()[1];
    }
    // Too large by estimate: the fronts before it go first, then the builder decides.
    int at = Arrays.binarySearch(fronts, ((StagePlan.Infeasible) outcome).front());
    if (at == 0) {
      return 1;
    }
    int[] before = Arrays.copyOf(fronts, at);
    int[] inBefore =
        Arrays.stream(in)
            .filter(c -> Arrays.binarySearch(before, analysis.parent(c)) >= 0)
            .toArray();
    return prefix(before, inBefore, bytes, ofBlock, budget);
  }

  /** Bytes of a contribution block, held or of a pending front. */
  private long blockBytes(int f, BlockShapes blocks, int[] place, long[] fm) {
    BlockShape there = blocks.shape(f);
    long cm =
        there != null
            ? there.cm()
            : StageFronts.contributionRows(fm[place[f] - 1], analysis.fn(f), analysis.fp(f));
    return 8 * (ContributionBlock.packedLength(cm, analysis.cn(f)) + cm * rhs);
  }

  private double frontBytes(long fm, int fn, int fp) {
    double out = 8.0 * Math.min(fm, fp) * fn + 4.0 * (fn + fm);
    if (fm <= Integer.MAX_VALUE && options.small((int) fm, fn, rhs)) {
      return out + 8.0 * fm * SchedulerOptions.smallLd(fn, rhs) + TaskLayout.FRONT_BYTES;
    }
    double rowTiles = Math.ceil(fm / (double) TaskLayout.TILE);
    double slots = 3 * Math.ceil(rowTiles / options.bundle());
    if (keepQ) {
      double pivotTiles = Math.min(rowTiles, TaskLayout.tiles(fn));
      slots = pivotTiles * (1 + (rowTiles - pivotTiles / 2) / (options.bundle() - 1));
    }
    double vt = 8.0 * TaskLayout.VT_DOUBLES * slots;
    rowTiles += drops && fm >= fp ? 1 : 0;
    return out + vt + 8.0 * 1024 * rowTiles * TaskLayout.tiles(fn + rhs);
  }
}
