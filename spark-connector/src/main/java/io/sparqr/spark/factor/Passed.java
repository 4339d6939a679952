/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factor;

import io.sparqr.numeric.BlockReducer;
import io.sparqr.numeric.ContributionBlock;
import io.sparqr.numeric.RowBlock;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.integrity.IntegrityFailure;
import io.sparqr.numeric.integrity.TaskCheck;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.wire.BlockCodec;
import io.sparqr.spark.wire.RowBatchCodec;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The output of a task for the tasks above it, as frames. Several blocks for one parent are
 * triangularized into rows of the parent if that is clearly smaller ({@link BlockReducer}). The
 * data sent, and held by the parent's task, are then bounded by the parent's columns, independent
 * of the number of its children, and part of the parent's work is done here. On GPUs that work
 * takes little time, so a problem that runs on GPUs spends at most as many flops per entry on it as
 * the map-side combine may. Each reduction must preserve the column sums of its blocks ({@link
 * TaskCheck#verifyRows}); otherwise the blocks are sent unreduced. So are they if Q is kept,
 * because the reduction's Q would have to be kept as well.
 */
final class Passed {

  private static final Logger LOG = LoggerFactory.getLogger(Passed.class);

  /** A reduction pays if the blocks have more than this many times the values of its result. */
  private static final double WORTHWHILE = 1.2;

  /**
   * Offset for the source partitions of row batches from tasks, which come after those from
   * partitions of the input.
   */
  private static final int AFTER_THE_INPUT = 1 << 30;

  private final SolvePlan plan;
  private final int task;
  private final List<byte[]> frames = new ArrayList<>();
  private final List<String> warnings = new ArrayList<>();
  private final double[] residualSquares;
  private double departure;
  private int batches;

  private Passed(SolvePlan plan, int task) {
    this.plan = plan;
    this.task = task;
    residualSquares = new double[plan.numbers().rhsCount()];
  }

  /** The output of a factored task. */
  static Passed of(SolvePlan plan, int task, SubtreeFactor factor) {
    var passed = new Passed(plan, task);
    var byParent = new TreeMap<Integer, List<ContributionBlock>>();
    for (ContributionBlock b : factor.outputs()) {
      int parent = plan.analysis().parent(b.front());
      if (parent >= 0) {
        byParent.computeIfAbsent(parent, p -> new ArrayList<>()).add(b);
      }
    }
    byParent.forEach(passed::add);
    return passed;
  }

  private void add(int parent, List<ContributionBlock> blocks) {
    if (blocks.size() > 1 && !plan.numbers().keepQ()) {
      var reducer = new BlockReducer(plan.analysis(), parent, blocks);
      boolean smaller = reducer.values() > WORTHWHILE * reducer.reducedValues();
      if (smaller && reducer.fits() && isWorthItsFlops(reducer) && reduced(parent, reducer)) {
        return;
      }
    }
    var codec = new BlockCodec();
    blocks.forEach(b -> frames.addAll(codec.encode(b)));
  }

  private boolean isWorthItsFlops(BlockReducer reducer) {
    return !plan.numbers().devices().use()
        || reducer.flops() <= plan.numbers().combineFlops() * reducer.values();
  }

  private boolean reduced(int parent, BlockReducer reducer) {
    RowBlock rows = reducer.reduce();
    try {
      double seen =
          TaskCheck.verifyRows(
              plan.analysis(), parent, reducer.stacked(), rows, reducer.residualSquares());
      departure = Math.max(departure, seen);
    } catch (IntegrityFailure e) {
      String what = "blocks for front " + parent + " go as they are: " + e.getMessage();
      LOG.warn("task {}: {}", task, what);
      warnings.add("task " + task + ": " + what);
      return false;
    }
    double[] ended = reducer.residualSquares();
    for (int q = 0; q < ended.length; q++) {
      residualSquares[q] += ended[q];
    }
    encode(rows);
    return true;
  }

  private void encode(RowBlock rows) {
    int rhs = rows.rhsCount();
    var batch = new RowBatchCodec.Builder(rhs);
    for (int i = 0; i < rows.rows(); i++) {
      int from = rows.rowStart()[i];
      batch.add(
          rows.front()[i],
          rows.position(),
          rows.value(),
          from,
          rows.rowStart()[i + 1] - from,
          rows.rhs(),
          i * rhs);
      if (batch.bytes() > 32 << 20 || i + 1 == rows.rows()) {
        frames.add(batch.take(AFTER_THE_INPUT + task, batches++));
      }
    }
  }

  /** {@link BlockCodec} and {@link RowBatchCodec} frames. */
  List<byte[]> frames() {
    return frames;
  }

  /** Size of the frames in bytes. */
  long bytes() {
    return frames.stream().mapToLong(f -> f.length).sum();
  }

  /** Size rhsCount: squares of the right-hand sides eliminated by reductions. */
  double[] residualSquares() {
    return residualSquares;
  }

  /** Largest departure of column sums in the reductions. */
  double departure() {
    return departure;
  }

  /** Warnings about rejected reductions. */
  List<String> warnings() {
    return warnings;
  }
}
