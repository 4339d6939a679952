/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged.layout;

import io.sparqr.backend.schedule.SchedulerOptions;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.assembly.RowsByFront;
import io.sparqr.sparse.IndexRanges;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The parts of a task that depend on structure alone: the grouping of the rows and the stages in
 * their order. A later task of the same structure reuses each stage as long as it would build the
 * same one.
 */
public final class PreparedTask {
  final SymbolicAnalysis analysis;
  final int[] fronts;
  public final RowsByFront rows;
  final StageBuilder builder;
  final boolean detect;
  final boolean keepQ;
  final long budget;
  private final SchedulerOptions cut;
  private final int threads;
  final List<Stage> stages = new ArrayList<>();

  /**
   * Groups the rows by front; stages are built later.
   *
   * @param budget bytes of a stage at most
   */
  public PreparedTask(SubtreeProblem problem, FactorOptions o, SchedulerOptions cut, long budget) {
    analysis = problem.analysis();
    fronts = problem.fronts();
    // The values are those of the first task alone, and are not kept beyond it.
    rows = new RowsByFront(problem, o.threads()).withValues(problem.rows().structure());
    detect = o.rankTolerance() >= 0;
    keepQ = o.keepQ();
    builder = new StageBuilder(analysis, rows, cut, o.threads(), detect, keepQ);
    this.budget = budget;
    this.cut = cut;
    threads = o.threads();
  }

  /** Whether another task has the same structure, options and budget. O(its entries). */
  public boolean serves(
      SubtreeProblem problem, FactorOptions o, SchedulerOptions itsCut, long bytes) {
    return threads == o.threads()
        && cut.equals(itsCut)
        && detect == (o.rankTolerance() >= 0)
        && keepQ == o.keepQ()
        && budget == bytes
        && Arrays.equals(fronts, problem.fronts())
        && analysis.same(problem.analysis())
        && rows.sameStructure(problem.rows(), o.threads());
  }

  /**
   * A built stage.
   *
   * @param fronts its fronts
   * @param blocks its input blocks
   * @param early whether it was laid out while the stage before was under way
   */
  public record Stage(int[] fronts, List<BlockShape> blocks, StageProgram program, boolean early) {

    /** Whether it is what would be built at some point. */
    boolean serves(int[] pending, BlockShapes there, SymbolicAnalysis analysis, long budget) {
      int n = fronts.length;
      return n <= pending.length
          && IndexRanges.equal(fronts, 0, n, pending, 0)
          && program.deviceBytes() <= budget
          && blocks.equals(there.inputs(analysis, fronts));
    }
  }
}
