/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.backend.cpu.CpuSubtreeFactorizer;
import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.numeric.ColumnNorms;
import io.sparqr.numeric.ContributionBlock;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.RowSplit;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.Tolerances;
import io.sparqr.numeric.assembly.RowsByFront;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.partition.ResourceModel;
import io.sparqr.partition.SubtreeTask;
import io.sparqr.partition.TreePartitioner;
import io.sparqr.spark.GpuSparseQR;
import io.sparqr.spark.Problems;
import io.sparqr.spark.plan.DeviceVerdict;
import io.sparqr.spark.plan.Readings;
import io.sparqr.spark.plan.Ridge;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.report.LeastSquaresSolution;
import io.sparqr.spark.wire.BlockCodec;
import io.sparqr.spark.wire.Frame;
import io.sparqr.spark.wire.RowBatchCodec;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tasks pass on many blocks for one parent as few rows, where that pays. */
class PassedTest {

  /** Level 1's 200 fronts hang on the fronts of the other factors' levels. */
  private static final CsrMatrix ONE_HOT = Gallery.generate("gen:onehot20000x200x30");

  private record Lower(SolvePlan plan, SubtreeTask task, SubtreeFactor factor) {}

  /** A task of the lowest level with several blocks for one parent, factored. */
  private static Lower lower(DeviceVerdict devices, boolean keepQ, double combineFlops) {
    SymbolicAnalysis analysis =
        SymbolicAnalyzer.analyze(ONE_HOT.pattern(), SymbolicOptions.defaults());
    var norms = new ColumnNorms(ONE_HOT.columns());
    for (int k = 0; k < ONE_HOT.nonzeros(); k++) {
      norms.add(ONE_HOT.columnIndex()[k], ONE_HOT.values()[k]);
    }
    double[] b = Problems.rhs(ONE_HOT.rows(), 5);
    RowSplit split = RowSplit.of(ONE_HOT, b, 1, analysis, norms.factors());
    var numbers =
        new SolvePlan.Numbers(
            1,
            1e-10,
            Ridge.NONE,
            devices,
            0,
            true,
            new SolvePlan.Fronts(keepQ, false),
            true,
            combineFlops);
    var plan =
        new SolvePlan(
            analysis,
            TreePartitioner.partition(
                analysis,
                ResourceModel.uniform(2, 1e9, 1L << 30),
                new PartitionOptions(2, 2, 2, 0)),
            norms.factors(),
            new double[] {1},
            numbers,
            new Readings(List.of()));
    var rows = new RowsByFront(whole(analysis, split));
    SubtreeTask task =
        plan.partition().level(0).stream()
            .max((x, y) -> Integer.compare(x.outputs().length, y.outputs().length))
            .orElseThrow();
    var problem = new SubtreeProblem(analysis, task.fronts(), rows.only(task.fronts()), List.of());
    try (var cpu = new CpuSubtreeFactorizer()) {
      var options = new FactorOptions(1e-10, 1, 0, keepQ).ofUnitColumns(true);
      return new Lower(plan, task, cpu.factor(problem, options));
    }
  }

  private static SubtreeProblem whole(SymbolicAnalysis analysis, RowSplit split) {
    int[] fronts = new int[analysis.fronts()];
    Arrays.setAll(fronts, f -> f);
    return new SubtreeProblem(analysis, fronts, split.rows(), List.of());
  }

  private static long bytesOfBlocks(SubtreeFactor f) {
    var codec = new BlockCodec();
    long bytes = 0;
    for (ContributionBlock b : f.outputs()) {
      bytes += codec.encode(b).stream().mapToLong(c -> c.length).sum();
    }
    return bytes;
  }

  private static void isAsItWas(Lower l) {
    Passed passed = Passed.of(l.plan, l.task.id(), l.factor);
    assertThat(passed.frames()).allMatch(f -> Frame.kind(f) == Frame.Kind.BLOCK);
    assertThat(passed.bytes()).isEqualTo(bytesOfBlocks(l.factor));
    assertThat(passed.residualSquares()).containsExactly(0);
  }

  @Test
  void manyBlocksForOneParentAreFewRows() {
    Lower l = lower(new DeviceVerdict.Refuse("asked for"), false, 0);
    assertThat(l.factor.outputs().size()).as("blocks").isGreaterThan(10);
    Passed passed = Passed.of(l.plan, l.task.id(), l.factor);
    assertThat(passed.frames()).anyMatch(f -> Frame.kind(f) == Frame.Kind.ROWS);
    assertThat(passed.bytes()).isLessThan(bytesOfBlocks(l.factor) / 3);
    assertThat(passed.departure()).isBetween(Double.MIN_VALUE, Tolerances.DEPARTURE);
    assertThat(passed.warnings()).isEmpty();
    for (byte[] frame : passed.frames()) {
      if (Frame.kind(frame) == Frame.Kind.ROWS) {
        int front = RowBatchCodec.firstFront(frame);
        assertThat(RowBatchCodec.decode(List.of(frame), 1).front()).containsOnly(front);
        assertThat(l.factor.outputs()).anyMatch(b -> l.plan.analysis().parent(b.front()) == front);
      }
    }
  }

  @Test
  void blocksGoAsTheyAreWithQKeptOrWhereTheFlopsAreNotWorthIt() {
    isAsItWas(lower(new DeviceVerdict.Refuse("asked for"), true, 1e9));
    isAsItWas(lower(new DeviceVerdict.Use(false, "much to do"), false, 1));
    Lower onDevice = lower(new DeviceVerdict.Use(false, "much to do"), false, 1e9);
    Passed passed = Passed.of(onDevice.plan, onDevice.task.id(), onDevice.factor);
    assertThat(passed.bytes()).isLessThan(bytesOfBlocks(onDevice.factor) / 3);
  }

  /** Every level sums to the intercept's column, which has no level of its own: rank n - 1. */
  @Test
  void aCutTreeGivesTheAnswerOfOneTask() {
    double[] b = Problems.rhs(ONE_HOT.rows(), 6);
    var one = solve(b, 1, new PartitionOptions(1, 1, 1, 0));
    var cut = solve(b, 2, new PartitionOptions(2, 2, 2, 0));
    assertThat(cut.report().analysis().levels()).isEqualTo(2);
    assertThat(cut.rank()).isEqualTo(one.rank());
    assertThat(cut.deadColumns()).isEqualTo(one.deadColumns());
    assertThat(cut.residualNorm())
        .isCloseTo(one.residualNorm(), within(Tolerances.REORDERED * one.residualNorm()));
    assertThat(cut.x()).containsExactly(one.x(), within(Tolerances.SOLUTION));
    assertThat(cut.report().proof().redoneTasks()).isZero();
  }

  private static LeastSquaresSolution solve(double[] b, int executors, PartitionOptions cut) {
    return GpuSparseQR.builder()
        .executors(executors)
        .partitionOptions(cut)
        .solve(Problems.rdd(ONE_HOT, 3, b));
  }
}
