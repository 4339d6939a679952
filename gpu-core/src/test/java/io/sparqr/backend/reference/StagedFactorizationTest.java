/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.reference;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.Sampled;
import io.sparqr.backend.cpu.CpuSubtreeFactorizer;
import io.sparqr.backend.schedule.SchedulerOptions;
import io.sparqr.backend.schedule.TaskLayout;
import io.sparqr.backend.staged.StagedFactorization;
import io.sparqr.backend.staged.executor.RoundExecutor;
import io.sparqr.error.InsufficientMemoryException;
import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.numeric.DeviceCases;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.FrontFactor;
import io.sparqr.numeric.RowSplit;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeFactorizer;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.TestMatrices;
import io.sparqr.numeric.Tolerances;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.ordering.degree.Colamd;
import io.sparqr.ordering.dissection.NestedDissection;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.symbolic.Amalgamation;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Memory stages, dead columns, order of tasks, reuse of plans: none of them changes a bit. */
class StagedFactorizationTest {

  /** Medium fronts are tiled and small ones whole, so that every kind of task occurs. */
  static final SchedulerOptions MIXED =
      SchedulerOptions.defaults().withBundle(3).withSmallFronts(600, 24);

  static final class Case {
    final CsrMatrix a;
    final SymbolicAnalysis analysis;
    final double tolerance;

    Case(CsrMatrix a) {
      this(a, SymbolicOptions.defaults().withGiven(new NestedDissection().order(a.pattern())));
    }

    Case(CsrMatrix a, SymbolicAnalysis analysis, double tolerance) {
      this.a = a;
      this.analysis = analysis;
      this.tolerance = tolerance;
    }

    Case(CsrMatrix a, SymbolicOptions options) {
      this.a = a;
      analysis = SymbolicAnalyzer.analyze(a.pattern(), options.withSingletons(false));
      tolerance = FactorOptions.defaultTolerance(a.rows(), a.columns(), Tolerances.frobenius(a));
    }

    SubtreeProblem problem(CsrMatrix values, long seed) {
      double[] ones = new double[a.columns()];
      Arrays.fill(ones, 1);
      double[] b = TestMatrices.vector(a.rows(), new Random(seed));
      int[] fronts = new int[analysis.fronts()];
      Arrays.setAll(fronts, f -> f);
      RowSplit split = RowSplit.of(values, b, 1, analysis, ones);
      return new SubtreeProblem(analysis, fronts, split.rows(), List.of());
    }

    SubtreeFactor run(SubtreeFactorizer factorizer, long budget) {
      return factorizer.factor(problem(a, 7), new FactorOptions(tolerance, 2, budget));
    }
  }

  /** A grid's rows with some columns zeroed: dead pivots from the leaves to the root. */
  private static CsrMatrix rankDeficientGrid(int size) {
    CsrMatrix grid = Gallery.generate("gen:cells2d" + size);
    var random = new Random(3);
    double[] values = grid.values().clone();
    for (int j = 0; j < grid.columns(); j++) {
      if (random.nextInt(12) == 0) {
        for (int k = 0; k < grid.nonzeros(); k++) {
          if (grid.columnIndex()[k] == j) {
            values[k] = 0;
          }
        }
      }
    }
    return new CsrMatrix(grid.rows(), grid.columns(), grid.rowStart(), grid.columnIndex(), values);
  }

  @Test
  void aBudgetOfOneFifthGivesTheSameBits() {
    for (boolean full : new boolean[] {true, false}) {
      var c = new Case(full ? Gallery.generate("gen:cells2d25") : rankDeficientGrid(26));
      SubtreeFactor whole;
      try (var factorizer = new ReferenceSubtreeFactorizer(MIXED)) {
        whole = c.run(factorizer, 0);
      }
      for (int part : new int[] {2, 5}) {
        try (var factorizer = new ReferenceSubtreeFactorizer(MIXED)) {
          long budget = whole.summary().peakDeviceBytes() / part;
          SubtreeFactor staged = c.run(factorizer, budget);
          if (full) {
            DeviceBits.assertSameRows(staged, whole, "1/" + part);
          } else {
            // Leftover rows go to a parent only within a stage.
            assertSameRank(staged, whole, c);
            DeviceBits.assertSameRows(staged, c.run(factorizer, budget), "again");
          }
          assertThat(staged.summary().stages()).isGreaterThan(whole.summary().stages());
          assertThat(staged.summary().peakDeviceBytes()).isLessThanOrEqualTo(budget);
          assertThat(staged.residualSquares()[0])
              .isCloseTo(
                  whole.residualSquares()[0],
                  within(Tolerances.of(c.a.rows(), c.a.columns(), whole.residualSquares()[0] + 1)));
        }
      }
    }
  }

  /** Each stage but the first is there when it is its turn, unless dead columns change it. */
  @Test
  void theNextStageIsLaidOutWhileOneIsUnderWay() {
    for (boolean full : new boolean[] {true, false}) {
      var c = new Case(full ? Gallery.generate("gen:cells2d25") : rankDeficientGrid(26));
      try (var executor = new TaskListExecutor(MIXED);
          var host = new HeathFactorizer()) {
        var staged = new StagedFactorization("staged", executor, host);
        SubtreeProblem problem = c.problem(c.a, 7);
        var whole = new FactorOptions(c.tolerance, 2, 0);
        long budget = staged.factor(problem, whole).summary().peakDeviceBytes() / 5;
        assertThat(staged.laidOutAhead()).as("one stage").isZero();
        var fifth = new FactorOptions(c.tolerance, 2, budget);
        long stages = staged.factor(problem, fifth).summary().stages();
        assertThat(stages).isGreaterThan(3);
        if (full) {
          assertThat(staged.laidOutAhead()).isEqualTo((int) stages - 1);
          staged.factor(c.problem(c.a, 8), fifth);
          assertThat(staged.laidOutAhead()).as("known from the task before").isZero();
        } else {
          assertThat(staged.laidOutAhead()).isLessThan((int) stages - 1);
        }
      }
    }
  }

  @Test
  void aBudgetThatHoldsNoFrontIsRefusedWithItsNumber() {
    var c = new Case(Gallery.generate("gen:cells2d10"));
    try (var factorizer = new ReferenceSubtreeFactorizer(MIXED)) {
      assertThatThrownBy(() -> c.run(factorizer, 4000))
          .isInstanceOf(InsufficientMemoryException.class)
          .hasMessageMatching("front \\d+ and what goes into it need \\d+ bytes.*4000");
    }
  }

  /** Rows that fill no more than 10 MB, in a front of 72 MB. */
  @Sampled(oneIn = 3)
  @Test
  void aTallFrontBeyondTheBudgetIsMergedOnTheHostAndSaysSo() {
    var c = new Case(TestMatrices.incidence(290_000, 30, new Random(17)));
    SubtreeFactor expected = c.run(new HeathFactorizer(), 0);
    try (var factorizer = new ReferenceSubtreeFactorizer(MIXED)) {
      SubtreeFactor staged = c.run(factorizer, 20 << 20);
      assertSameRank(staged, expected, c);
      assertThat(staged.summary().warnings())
          .singleElement()
          .asString()
          .matches("front \\d+ \\(\\d+ columns\\) has more rows than the device takes: .*");
    }
  }

  /** Memory that was free when the stage was planned may be in use when it begins. */
  @Sampled(oneIn = 3)
  @Test
  void aTallFrontThatTheDeviceHasNoRoomForAfterAllIsMergedOnTheHost() {
    var c = new Case(TestMatrices.incidence(290_000, 30, new Random(17)));
    SubtreeFactor expected = c.run(new HeathFactorizer(), 0);
    var device = new TaskListExecutor(MIXED);
    var full =
        (RoundExecutor)
            Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {RoundExecutor.class},
                (proxy, method, arguments) -> {
                  if (method.getName().equals("execute")) {
                    throw new InsufficientMemoryException("full", 2, 1);
                  }
                  return method.invoke(device, arguments);
                });
    var staged = new StagedFactorization("reference", full, new CpuSubtreeFactorizer());
    SubtreeFactor factor = staged.factor(c.problem(c.a, 7), new FactorOptions(c.tolerance, 2, 0));
    assertSameRank(factor, expected, c);
    assertThat(factor.summary().warnings()).singleElement().asString().contains("the host");
  }

  @Test
  void deadColumnsAreThoseOfHeathsMethodAndOnlyTheirFrontsGoToTheHost() {
    // in this order no remainder is near the tolerance
    CsrMatrix grid = rankDeficientGrid(14);
    var order = new Colamd().order(grid.pattern());
    var c = new Case(grid, SymbolicOptions.defaults().withGiven(order));
    SubtreeFactor expected = c.run(new HeathFactorizer(), 0);
    long deadFronts = 0;
    for (FrontFactor f : expected.fronts()) {
      deadFronts += f.rank() < c.analysis.fp(f.front()) ? 1 : 0;
    }
    assertThat(deadFronts).isGreaterThan(3);
    var host = new Counting();
    var staged = new StagedFactorization("reference", new TaskListExecutor(MIXED), host);
    SubtreeProblem problem = c.problem(c.a, 7);
    SubtreeFactor kept = staged.factor(problem, new FactorOptions(c.tolerance, 1, 0, true));
    assertSameRank(kept, expected, c);
    assertThat(host.fronts).as("of those with reflectors").isEqualTo(deadFronts);
    SubtreeFactor dropped = staged.factor(problem, new FactorOptions(c.tolerance, 1, 0));
    assertSameRank(dropped, expected, c);
    assertThat(host.fronts - deadFronts).as("and without").isLessThan(deadFronts);
    assertThat(host.fromRows).isZero();
  }

  @Test
  void aPivotNearTheToleranceIsDecidedByTheRowsOfItsFront() {
    var c = new Case(nearlyDependent(1e-3));
    for (double norm : new double[] {3, 1 / 3.0, 50, 1 / 8.0}) {
      var near = new Case(nearlyDependent(norm * c.tolerance));
      SubtreeFactor expected = near.run(new HeathFactorizer(), 0);
      assertThat(expected.summary().rank()).isEqualTo(norm > 1 ? 22 : 21);
      var host = new Counting();
      var staged = new StagedFactorization("reference", new TaskListExecutor(MIXED), host);
      var options = new FactorOptions(near.tolerance, 1, 0);
      assertSameRank(staged.factor(near.problem(near.a, 7), options), expected, near);
      assertThat(host.fromRows).isEqualTo(1);
      SubtreeProblem problem = near.problem(near.a, 7);
      SubtreeFactor kept = staged.factor(problem, new FactorOptions(near.tolerance, 1, 0, true));
      DeviceCases.checkReflectors(problem, kept, "a remainder of " + norm + " tolerances");
    }
    for (var clear : new Case[] {c, new Case(nearlyDependent(c.tolerance / 12))}) {
      var host = new Counting();
      var staged = new StagedFactorization("reference", new TaskListExecutor(MIXED), host);
      var options = new FactorOptions(clear.tolerance, 1, 0);
      SubtreeFactor found = staged.factor(clear.problem(clear.a, 7), options);
      assertSameRank(found, clear.run(new HeathFactorizer(), 0), clear);
      assertThat(host.fronts + host.fromRows).as("dropped where it is").isZero();
    }
  }

  @Test
  void frontsThatAreFactoredFromTheirRowsGetTheBlocksOfTheirChildrenToo() {
    CsrMatrix a = Gallery.generate("gen:cells2d30:rand");
    var c = new Case(a);
    // So large that pivots all over the tree are near it, though not within rounding errors.
    var options = new FactorOptions(1.2, 1, 0);
    SubtreeProblem problem = c.problem(a, 7);
    SubtreeFactor expected = new HeathFactorizer().factor(problem, options);
    assertThat(expected.summary().rank()).isBetween(800L, a.columns() - 5L);
    var host = new Counting();
    var staged = new StagedFactorization("reference", new TaskListExecutor(MIXED), host);
    assertSameRank(staged.factor(problem, options), expected, c);
    assertThat(host.blocks).isGreaterThan(5);
  }

  @Test
  void aSquareFrontWithADeadColumnGivesItsParentARowAndTheResidualIsCountedOnce() {
    // Rows 0 and 1 make a front of columns 0 and 1, which are parallel; rows 2 to 9 one of columns
    // 2 and 3; all others are the root's.
    double[][] a = new double[40][7];
    var random = new Random(2);
    for (int i = 0; i < 40; i++) {
      for (int j = 0; j < 7; j++) {
        a[i][j] = j / 2 == 0 && i > 1 || j / 2 == 1 && (i < 2 || i > 9) ? 0 : random.nextGaussian();
      }
      a[i][1] = 3 * a[i][0];
    }
    var natural =
        SymbolicOptions.defaults()
            .withOrdering(OrderingMethod.NATURAL)
            .withAmalgamation(Amalgamation.none());
    var c = new Case(TestMatrices.ofDense(a, 7, false), natural);
    assertThat(c.analysis.fronts()).isEqualTo(3);
    assertThat(IntStream.range(0, 2)).anyMatch(f -> c.analysis.cm(f) == 0);
    SubtreeFactor expected = c.run(new HeathFactorizer(), 0);
    assertThat(expected.summary().rank()).isEqualTo(6);
    for (int columns : new int[] {0, 64}) {
      SchedulerOptions options = MIXED.withSmallFronts(600, columns);
      try (var factorizer = new ReferenceSubtreeFactorizer(options)) {
        assertSameRank(c.run(factorizer, 0), expected, c);
      }
    }
  }

  /** Two fronts of 200 rows and 140 columns, 40 of them pivots, below a front of 100 columns. */
  @Test
  void fewLeftoverRowsGoToTheParentFromTheLastPivot() {
    var random = new Random(5);
    double[][] a = new double[450][180];
    for (int i = 0; i < 450; i++) {
      for (int j = 0; j < 180; j++) {
        a[i][j] = j < 80 && j / 40 != i / 200 ? 0 : random.nextGaussian();
      }
      a[i][5] = 2 * a[i][4];
      a[i][39] = a[i][38] - a[i][7];
      a[i][117] = a[i][116];
    }
    var natural =
        SymbolicOptions.defaults()
            .withOrdering(OrderingMethod.NATURAL)
            .withAmalgamation(Amalgamation.none());
    var c = new Case(TestMatrices.ofDense(a, 180, false), natural);
    assertThat(c.analysis.fronts()).isEqualTo(3);
    assertThat(c.analysis.fm(0)).isGreaterThanOrEqualTo(c.analysis.fn(0));
    SubtreeFactor expected = c.run(new HeathFactorizer(), 0);
    assertThat(expected.summary().rank()).isEqualTo(177);
    var device = new TaskListExecutor(MIXED);
    var states = new ArrayList<int[]>();
    var watched =
        (RoundExecutor)
            Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {RoundExecutor.class},
                (proxy, method, arguments) -> {
                  Object result = method.invoke(device, arguments);
                  if (result instanceof RoundExecutor.Result r) {
                    states.add(r.state());
                  }
                  return result;
                });
    var host = new Counting();
    var staged = new StagedFactorization("reference", watched, host);
    var options = new FactorOptions(c.tolerance, 1, 0);
    assertSameRank(staged.factor(c.problem(c.a, 7), options), expected, c);
    assertThat(host.fronts + host.fromRows).isZero();
    assertThat(states)
        .singleElement()
        .isEqualTo(
            new int[] {TaskLayout.STATE_PASSED, TaskLayout.STATE_SOUND, TaskLayout.STATE_DROPPED});
  }

  /**
   * One dense front: one column occurs twice, and another is a copy plus a remainder of that norm.
   */
  private static CsrMatrix nearlyDependent(double remainder) {
    var random = new Random(11);
    double[][] a = new double[60][23];
    for (int i = 0; i < 60; i++) {
      for (int j = 0; j < 23; j++) {
        a[i][j] = random.nextGaussian();
      }
      a[i][9] = a[i][4];
      // orthogonal to the other columns up to a factor of about 1
      a[i][17] = a[i][6] + remainder * a[i][17] / Math.sqrt(40);
    }
    return TestMatrices.ofDense(a, 23, false);
  }

  private static void assertSameRank(SubtreeFactor actual, SubtreeFactor expected, Case c) {
    double limit = Tolerances.of(c.a.rows(), c.a.columns(), Tolerances.frobenius(c.a));
    for (int f = 0; f < expected.fronts().size(); f++) {
      assertThat(actual.fronts().get(f).livePivot())
          .as("front %d", f)
          .isEqualTo(expected.fronts().get(f).livePivot());
      Tolerances.requireClose(
          TestMatrices.rowsOfR(actual.fronts().get(f)),
          TestMatrices.rowsOfR(expected.fronts().get(f)),
          limit,
          "front " + f);
    }
    assertThat(actual.summary().rank()).isEqualTo(expected.summary().rank());
    double normB = Math.sqrt(expected.residualSquares()[0]) + 1;
    assertThat(Math.sqrt(actual.residualSquares()[0]))
        .isCloseTo(
            Math.sqrt(expected.residualSquares()[0]),
            within(Tolerances.of(c.a.rows(), c.a.columns(), normB)));
  }

  /** Heath's method, counting the fronts that it gets from R and those that it gets from rows. */
  private static final class Counting implements SubtreeFactorizer {
    private final SubtreeFactorizer heath = new HeathFactorizer();
    private long fronts;
    private long fromRows;
    private long blocks;

    @Override
    public SubtreeFactor factor(SubtreeProblem problem, FactorOptions options) {
      blocks += problem.inputs().size();
      for (int f : problem.fronts()) {
        boolean trapezoid = problem.inputs().isEmpty();
        int row = 0;
        for (int i = 0; i < problem.rows().rows(); i++) {
          if (problem.rows().front()[i] == f) {
            int length = problem.rows().rowStart()[i + 1] - problem.rows().rowStart()[i];
            trapezoid &= length == problem.analysis().fn(f) - row++;
          }
        }
        fronts += trapezoid ? 1 : 0;
        fromRows += trapezoid ? 0 : 1;
      }
      return heath.factor(problem, options);
    }

    @Override
    public String description() {
      return "counting";
    }

    @Override
    public void close() {}
  }

  @Test
  void tasksOfARoundMayRunInAnyOrder() {
    var c = new Case(Gallery.generate("gen:cells2d20"));
    SubtreeFactor inOrder;
    try (var factorizer = new ReferenceSubtreeFactorizer(MIXED)) {
      inOrder = c.run(factorizer, 0);
    }
    for (long seed = 1; seed <= 3; seed++) {
      var random = new Random(seed);
      var executor =
          new TaskListExecutor(
              MIXED, 1L << 30, (round, tasks) -> TestMatrices.shuffle(tasks, random));
      try (var factorizer = new ReferenceSubtreeFactorizer(executor)) {
        DeviceBits.assertSameRows(c.run(factorizer, 0), inOrder, "seed " + seed);
      }
    }
  }

  @Test
  void roundsAreNoBarriersAnyOrderThatTheCountsAllowGivesTheSameBits() {
    var tall = new Case(TestMatrices.sparse(900, 130, 4, new Random(5)));
    var grid = new Case(rankDeficientGrid(16));
    for (int bundle : new int[] {2, 3, 8}) {
      for (boolean pipelining : new boolean[] {true, false}) {
        var options = MIXED.withBundle(bundle).withPipelining(pipelining).withSmallFronts(600, 64);
        for (Case c : List.of(tall, grid)) {
          SubtreeFactor inOrder;
          try (var factorizer = new ReferenceSubtreeFactorizer(options)) {
            inOrder = c.run(factorizer, 0);
          }
          var random = new Random(bundle);
          List<IntUnaryOperator> choices =
              List.of(
                  random::nextInt,
                  ready -> ready - 1,
                  ready -> ready - 1 - random.nextInt(Math.min(ready, 3)),
                  ready -> random.nextInt(8) == 0 ? 0 : ready - 1);
          for (int k = 0; k < choices.size(); k++) {
            var executor = new TaskListExecutor(options, choices.get(k));
            try (var factorizer = new ReferenceSubtreeFactorizer(executor)) {
              DeviceBits.assertSameRows(
                  c.run(factorizer, 0), inOrder, "bundles of " + bundle + ", choice " + k);
            }
          }
        }
      }
    }
  }

  @Test
  void aSecondTaskOfTheSameStructureTakesThePlanAndItsOwnValues() {
    var c = new Case(rankDeficientGrid(14));
    CsrMatrix b = TestMatrices.scale(c.a, 3);
    CsrMatrix full = Gallery.generate("gen:cells2d14");
    try (var kept = new ReferenceSubtreeFactorizer(MIXED)) {
      for (CsrMatrix values : List.of(c.a, b, full, c.a)) {
        var options = new FactorOptions(c.tolerance, 2, 0);
        SubtreeFactor again = kept.factor(c.problem(values, 9), options);
        try (var fresh = new ReferenceSubtreeFactorizer(MIXED)) {
          SubtreeFactor expected = fresh.factor(c.problem(values, 9), options);
          DeviceBits.assertSameRows(again, expected, "reused plan");
          assertThat(again.residualSquares()).isEqualTo(expected.residualSquares());
        }
      }
    }
  }

  @Test
  void everyBundleSizeGivesHeathsRUpToRounding() {
    var random = new Random(4);
    var c = new Case(TestMatrices.sparse(450, 150, 3, random));
    SubtreeFactor expected = c.run(new HeathFactorizer(), 0);
    double limit = Tolerances.of(450, 150, Tolerances.frobenius(c.a));
    for (int bundle = 2; bundle <= 8; bundle++) {
      for (boolean pipelining : new boolean[] {true, false}) {
        var options =
            SchedulerOptions.defaults()
                .withBundle(bundle)
                .withPipelining(pipelining)
                .withSmallFronts(0, 0);
        try (var factorizer = new ReferenceSubtreeFactorizer(options)) {
          SubtreeFactor actual = c.run(factorizer, 0);
          for (int f = 0; f < expected.fronts().size(); f++) {
            Tolerances.requireClose(
                TestMatrices.rowsOfR(actual.fronts().get(f)),
                TestMatrices.rowsOfR(expected.fronts().get(f)),
                limit,
                "bundles of %d, front %d".formatted(bundle, f));
          }
        }
      }
    }
  }

  @Test
  void keptQIsWhatCarriedRightHandSidesSawWhateverTheStagesAndTheHost() {
    var c = new Case(rankDeficientGrid(14));
    for (SubtreeFactorizer host : List.of(new HeathFactorizer(), new CpuSubtreeFactorizer())) {
      var staged = new StagedFactorization("reference", new TaskListExecutor(MIXED), host);
      long budget = 0;
      for (int part = 1; part <= 3; part += 2) {
        var options = new FactorOptions(c.tolerance, 2, budget / part, true);
        SubtreeFactor kept = staged.factor(c.problem(c.a, 7), options);
        DeviceCases.checkReflectors(c.problem(c.a, 7), kept, "1/" + part + " of the memory");
        assertThat(kept.summary().stages()).isGreaterThanOrEqualTo(part);
        budget = kept.summary().peakDeviceBytes();
      }
      // the plan of a task that keeps Q cannot be used for one that does not
      SubtreeFactor plain = staged.factor(c.problem(c.a, 7), new FactorOptions(c.tolerance, 2, 0));
      assertThat(plain.reflectors()).isEmpty();
    }
  }
}
