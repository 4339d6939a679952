/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged.layout;

import io.sparqr.backend.schedule.FrontDescriptor;
import io.sparqr.backend.schedule.SchedulerOptions;
import io.sparqr.backend.schedule.SparseScheduler;
import io.sparqr.backend.schedule.StageFronts;
import io.sparqr.backend.schedule.StageSchedule;
import io.sparqr.backend.schedule.TaskLayout;
import io.sparqr.numeric.integrity.Steps;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.sparse.SparsityPattern;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.stream.IntStream;

/**
 * The stage of a dense matrix: one tiled front without S entries, whose rows are written straight
 * to their places in the arena, row i at i times the leading dimension.
 */
public final class DenseStage {

  private DenseStage() {}

  /**
   * Lays the stage out.
   *
   * @param rows m, at least n
   * @param columns n, at least 1
   * @param options small fronts are tiled, too
   * @param keepQ whether each bundle keeps its V and T
   */
  public static StageProgram of(int rows, int columns, SchedulerOptions options, boolean keepQ) {
    SchedulerOptions tiled = options.withSmallFronts(0, 0);
    var fronts = new StageFronts(1, 0, 0, keepQ);
    fronts.front(0, rows, columns, columns, -1, 0);
    int[] stair = new int[columns];
    Arrays.fill(stair, rows);
    fronts.makeRounds(0, stair, tiled);
    int ld = fronts.leadingDimension(0);
    var descriptor =
        new FrontDescriptor(
            new FrontDescriptor.Places(0, 0, 0, 0, 0, 0),
            new FrontDescriptor.Shape(
                ld, rows, columns, columns, 0, 0, fronts.rowTiles(0), fronts.columnTiles(0)),
            -1,
            0,
            0);
    ByteBuffer encoded =
        ByteBuffer.allocateDirect(TaskLayout.FRONT_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    descriptor.encode(encoded, 0);
    StageSchedule schedule = SparseScheduler.schedule(fronts, tiled, 1);
    return new StageProgram(
        new StageProgram.Counts(1, 0, 0, schedule.residualSlots(), 0, rows),
        new StageProgram.Descriptors(encoded, new FrontDescriptor[] {descriptor}),
        new int[0],
        new StageProgram.Entries(new int[0], 0, null),
        new int[] {TaskLayout.STATE_SOUND},
        new StageProgram.Memory(fronts.height(0) * ld, 0, new long[] {0, fronts.firstOutput(1)}),
        schedule,
        StageColumns.of(
            analysis(rows, columns), new int[] {0}, new int[0], Steps.ofFront(rows, columns), 1));
  }

  private static SymbolicAnalysis analysis(int rows, int columns) {
    int[] full = IntStream.range(0, columns).toArray();
    var pattern = new SparsityPattern(columns, new long[] {0, columns}, full, new long[] {rows});
    return SymbolicAnalyzer.analyze(
        pattern,
        SymbolicOptions.defaults()
            .withOrdering(OrderingMethod.NATURAL)
            .withSingletons(false)
            .withRhs(0));
  }
}
