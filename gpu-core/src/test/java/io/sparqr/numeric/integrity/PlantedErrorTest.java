/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.integrity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.backend.cpu.CpuSubtreeFactorizer;
import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.numeric.ContributionBlock;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.FrontFactor;
import io.sparqr.numeric.RowBlock;
import io.sparqr.numeric.RowSplit;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.TestMatrices;
import io.sparqr.numeric.Tolerances;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.symbolic.Spreads;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import java.nio.DoubleBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Every change of a right result is noticed. */
class PlantedErrorTest {

  private static final int PROBLEMS = 60;

  /** A task below others, with a task above it: rows, blocks in and blocks out. */
  private record Tasks(
      SubtreeProblem below, SubtreeFactor r, SubtreeProblem above, SubtreeFactor s) {}

  private static Tasks tasks(long seed) {
    var random = new Random(seed);
    var grid = Gallery.generate("gen:cells2d" + (8 + random.nextInt(8)));
    double[] v = TestMatrices.vector(grid.nonzeros(), random);
    var a = new CsrMatrix(grid.rows(), grid.columns(), grid.rowStart(), grid.columnIndex(), v);
    double[] b = TestMatrices.vector(2 * a.rows(), random);
    var c = IntegrityCases.of("seed " + seed, a, b, 2, random);
    int nf = c.problem().fronts().length;
    var o = new FactorOptions(c.tolerance(), 1, 0);
    try (var cpu = new CpuSubtreeFactorizer()) {
      for (int cut = nf - 1; cut > 0; cut--) {
        SubtreeProblem below = IntegrityCases.part(c.problem(), 0, cut, List.of());
        SubtreeFactor r = cpu.factor(below, o);
        if (!r.outputs().isEmpty()) {
          SubtreeProblem above = IntegrityCases.part(c.problem(), cut, nf, r.outputs());
          return new Tasks(below, r, above, cpu.factor(above, o));
        }
      }
    }
    throw new AssertionError("seed " + seed + ": no blocks");
  }

  private static void seen(SubtreeProblem problem, SubtreeFactor factor, String what) {
    var o = new FactorOptions(1e-10, 1, 0);
    assertThatThrownBy(() -> TaskCheck.verify(problem, factor, o))
        .as(what)
        .isInstanceOf(IntegrityFailure.class);
  }

  private static void accepted(SubtreeProblem problem, SubtreeFactor factor, String what) {
    var o = new FactorOptions(1e-10, 1, 0);
    assertThat(TaskCheck.verify(problem, factor, o)).as(what).isLessThan(Tolerances.DEPARTURE);
  }

  /** The largest off-diagonal entry of some rows of R, in a random front. */
  private static int largest(FrontFactor f) {
    int at = 0;
    int best = -1;
    for (int k : f.livePivot()) {
      for (int j = 1; j < f.fn() - k; j++) {
        if (best < 0 || Math.abs(f.values().get(at + j)) > Math.abs(f.values().get(best))) {
          best = at + j;
        }
      }
      at += f.fn() - k;
    }
    return best;
  }

  private static FrontFactor withLargestRhs(SubtreeFactor r) {
    return r.fronts().stream()
        .filter(f -> f.rank() > 0)
        .max(Comparator.comparingDouble(f -> Math.abs(f.rhs()[largestOf(f.rhs())])))
        .orElseThrow();
  }

  private static int largestOf(double[] x) {
    int best = 0;
    for (int k = 1; k < x.length; k++) {
      best = Math.abs(x[k]) > Math.abs(x[best]) ? k : best;
    }
    return best;
  }

  /** An off-diagonal entry of R that is exactly zero, in a row with others; -1: there is none. */
  private static int zero(FrontFactor f) {
    int at = 0;
    for (int k : f.livePivot()) {
      for (int j = 1; j < f.fn() - k; j++) {
        if (f.values().get(at + j) == 0) {
          return at + j;
        }
      }
      at += f.fn() - k;
    }
    return -1;
  }

  enum Fault {
    CHANGED,
    SIGN,
    DIAGONAL,
    NOT_A_NUMBER,
    INFINITE,
    RHS_CHANGED,
    RHS_SIGN,
    RHS_NOT_A_NUMBER,
    BLOCK_CHANGED,
    BLOCK_SIGN,
    BLOCK_RHS,
    RESIDUAL,
    RESIDUAL_NOT_A_NUMBER
  }

  private static void plant(Fault fault, SubtreeFactor r, FrontFactor f, ContributionBlock b) {
    DoubleBuffer v = f.values();
    int at = largest(f);
    double much = 1 + 1e-10;
    switch (fault) {
      case CHANGED -> v.put(at, v.get(at) * much);
      case SIGN -> v.put(at, -v.get(at));
      case DIAGONAL -> v.put(0, v.get(0) * much);
      case NOT_A_NUMBER -> v.put(at, Double.NaN);
      case INFINITE -> v.put(at, Double.POSITIVE_INFINITY);
      case RHS_CHANGED -> {
        FrontFactor most = withLargestRhs(r);
        most.rhs()[largestOf(most.rhs())] *= much;
      }
      case RHS_SIGN -> f.rhs()[1] = -f.rhs()[1];
      case RHS_NOT_A_NUMBER -> f.rhs()[1] = Double.NaN;
      case BLOCK_CHANGED -> b.values()[0] *= much;
      case BLOCK_SIGN -> b.values()[b.values().length > 1 ? 1 : 0] *= -1;
      case BLOCK_RHS -> b.rhs()[0] = -b.rhs()[0];
      case RESIDUAL -> r.residualSquares()[0] += 1e-9;
      case RESIDUAL_NOT_A_NUMBER -> r.residualSquares()[0] = Double.NaN;
      default -> throw new AssertionError(fault);
    }
  }

  @ParameterizedTest
  @EnumSource
  void inWhatComesOut(Fault fault) {
    int planted = 0;
    for (long seed = 0; seed < PROBLEMS; seed++) {
      Tasks t = tasks(seed);
      accepted(t.below, t.r, "seed " + seed);
      var random = new Random(seed);
      FrontFactor f = t.r.fronts().get(random.nextInt(t.r.fronts().size()));
      ContributionBlock b = t.r.outputs().get(0);
      if (f.rank() == 0 || f.fn() < 2 || b.values().length == 1) {
        continue;
      }
      plant(fault, t.r, f, b);
      seen(t.below, t.r, fault + ", seed " + seed + ", front " + f.front());
      planted++;
    }
    assertThat(planted).isGreaterThan(PROBLEMS / 2);
  }

  /** In the block of a front without pivots, to which blocks for a tall front are reduced. */
  @ParameterizedTest
  @EnumSource(names = {"BLOCK_CHANGED", "BLOCK_SIGN", "BLOCK_RHS", "RESIDUAL"})
  void inAReductionForATallFront(Fault fault) {
    for (long seed = 0; seed < 10; seed++) {
      var random = new Random(seed);
      CsrMatrix a = TestMatrices.blocks(false, random);
      var options =
          SymbolicOptions.defaults().withOrdering(OrderingMethod.NATURAL).withSingletons(false);
      SymbolicAnalysis spread = Spreads.eager(SymbolicAnalyzer.analyze(a.pattern(), options));
      int reduction =
          IntStream.range(0, spread.fronts())
              .filter(f -> spread.fp(f) == 0)
              .findFirst()
              .orElseThrow();
      double[] ones = new double[a.columns()];
      Arrays.fill(ones, 1);
      RowBlock rows = RowSplit.of(a, TestMatrices.vector(a.rows(), random), 1, spread, ones).rows();
      int[] fronts = IntStream.range(0, spread.fronts()).toArray();
      var whole = new SubtreeProblem(spread, fronts, rows, List.of());
      SubtreeProblem below = IntegrityCases.part(whole, 0, reduction + 1, List.of());
      try (var cpu = new CpuSubtreeFactorizer()) {
        SubtreeFactor r = cpu.factor(below, new FactorOptions(1e-10, 1, 0));
        accepted(below, r, "seed " + seed);
        ContributionBlock b =
            r.outputs().stream().filter(q -> q.front() == reduction).findFirst().orElseThrow();
        plant(fault, r, r.fronts().get(0), b);
        seen(below, r, fault + ", seed " + seed);
      }
    }
  }

  /** A sign keeps the norm, and a dead column is in no probe: its own products show it. */
  @Test
  void aSignInADependentColumn() {
    for (long seed = 0; seed < PROBLEMS; seed++) {
      var random = new Random(seed);
      CsrMatrix a = TestMatrices.ofRank(40, 20, 15, random);
      var c = IntegrityCases.of("seed " + seed, a, TestMatrices.vector(80, random), 2, random);
      try (var cpu = new CpuSubtreeFactorizer()) {
        SubtreeFactor r = cpu.factor(c.problem(), new FactorOptions(1e-10, 1, 0));
        accepted(c.problem(), r, c.name());
        FrontFactor f = r.fronts().get(0);
        var live = IntStream.of(f.livePivot()).boxed().toList();
        int dead = IntStream.range(1, f.fn()).filter(j -> !live.contains(j)).findFirst().orElse(-1);
        assertThat(dead).as("a dead column of %s", c.name()).isPositive();
        DoubleBuffer v = f.values();
        int at = dead - f.livePivot()[0];
        v.put(at, -v.get(at));
        seen(c.problem(), r, c.name() + ", column " + dead);
      }
    }
  }

  /** 1e-7 in place of a zero: the squared norm grows by only 1e-14. */
  @Test
  void aZeroMadeNonzero() {
    int planted = 0;
    for (long seed = 0; seed < PROBLEMS; seed++) {
      Tasks t = tasks(seed);
      for (FrontFactor f : t.r.fronts()) {
        int at = zero(f);
        if (at >= 0) {
          f.values().put(at, 1e-7);
          seen(t.below, t.r, "seed " + seed + ", front " + f.front());
          f.values().put(at, 0);
          planted++;
        }
      }
    }
    assertThat(planted).isGreaterThan(PROBLEMS / 2);
  }

  /**
   * A change of Q'b in a row whose own probe is zero, and where Q'b is zero, so that its square is
   * too: the sums of the right-hand side stay as they are, those of the columns do not.
   */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 40})
  void inARowWithoutAProbe(int rhs) {
    for (int seed = 0; seed < 10; seed++) {
      var random = new Random(seed);
      int n = 20;
      int row = random.nextInt(n - 5);
      double[][] r = triangle(n, rhs, row, random);
      double[][] a = mixed(r, n + 10, random);
      double[] b = new double[a.length * rhs];
      for (int i = 0; i < a.length; i++) {
        System.arraycopy(a[i], n, b, i * rhs, rhs);
      }
      var natural =
          SymbolicOptions.defaults().withOrdering(OrderingMethod.NATURAL).withSingletons(false);
      CsrMatrix matrix = TestMatrices.ofDense(a, n, true);
      SymbolicAnalysis analysis = SymbolicAnalyzer.analyze(matrix.pattern(), natural);
      double[] ones = new double[n];
      Arrays.fill(ones, 1);
      RowBlock rows = RowSplit.of(matrix, b, rhs, analysis, ones).rows();
      var problem = new SubtreeProblem(analysis, new int[] {0}, rows, List.of());
      try (var cpu = new CpuSubtreeFactorizer()) {
        SubtreeFactor factor = cpu.factor(problem, new FactorOptions(1e-10, 1, 0));
        accepted(problem, factor, "seed " + seed);
        double[] y = factor.fronts().get(0).rhs();
        for (int q = 0; q < rhs; q++) {
          double was = y[row * rhs + q];
          y[row * rhs + q] += 1e-8;
          seen(problem, factor, "seed %d, right-hand side %d".formatted(seed, q));
          y[row * rhs + q] = was;
        }
      }
    }
  }

  /**
   * [R y] with a row of R whose multiples by the probe's multipliers add up to 0, and y = 0 there.
   */
  private static double[][] triangle(int n, int rhs, int row, Random random) {
    double[][] r = new double[n][n + rhs];
    for (int i = 0; i < n; i++) {
      for (int j = i; j < n + rhs; j++) {
        r[i][j] = random.nextGaussian();
      }
      r[i][i] += 4;
    }
    for (int j = row; j < n + rhs; j++) {
      r[row][j] = j < n ? r[row][j] / 16 : 0;
    }
    // The last multiplier depends on the column's norm, by its power of two: again.
    for (int k = 0; k < 3; k++) {
      double sum = 0;
      for (int j = row; j < n - 1; j++) {
        sum += r[row][j] * ColumnProbe.scale(j, norm(r, j));
      }
      r[row][n - 1] = -sum / ColumnProbe.scale(n - 1, norm(r, n - 1));
    }
    double t = 0;
    for (int j = row; j < n; j++) {
      t += r[row][j] * ColumnProbe.scale(j, norm(r, j));
    }
    assertThat(Math.abs(t)).isLessThan(Tolerances.of(n, n, 1));
    return r;
  }

  private static double norm(double[][] a, int j) {
    double sum = 0;
    for (double[] row : a) {
      sum += row[j] * row[j];
    }
    return Math.sqrt(sum);
  }

  /** Some rows, zeros under them, and then reflectors across all. */
  private static double[][] mixed(double[][] rows, int m, Random random) {
    double[][] a = new double[m][rows[0].length];
    for (int i = 0; i < rows.length; i++) {
      a[i] = rows[i].clone();
    }
    for (int k = 0; k < 3; k++) {
      double[] v = TestMatrices.vector(m, random);
      double vv = Arrays.stream(v).map(x -> x * x).sum();
      for (int j = 0; j < a[0].length; j++) {
        double va = 0;
        for (int i = 0; i < m; i++) {
          va += v[i] * a[i][j];
        }
        for (int i = 0; i < m; i++) {
          a[i][j] -= 2 * va / vv * v[i];
        }
      }
    }
    return a;
  }

  /** A result without a row, or with one twice, against the rows that there are. */
  @Test
  void aRowLostOrTwice() {
    for (long seed = 0; seed < PROBLEMS; seed++) {
      Tasks t = tasks(seed);
      RowBlock rows = t.below.rows();
      int i = new Random(seed).nextInt(rows.rows());
      int[] without = IntStream.range(0, rows.rows()).filter(k -> k != i).toArray();
      int[] twice = IntStream.rangeClosed(0, rows.rows()).toArray();
      twice[rows.rows()] = i;
      for (int[] which : List.of(without, twice)) {
        var other =
            new SubtreeProblem(
                t.below.analysis(),
                t.below.fronts(),
                IntegrityCases.rows(rows, which),
                t.below.inputs());
        try (var cpu = new CpuSubtreeFactorizer()) {
          SubtreeFactor wrong = cpu.factor(other, new FactorOptions(1e-10, 1, 0));
          seen(t.below, wrong, "seed " + seed + ", row " + i + ", " + which.length);
        }
      }
    }
  }

  /** The right rows of R assigned to wrong fronts, and too few or too many fronts. */
  @Test
  void otherFronts() {
    int planted = 0;
    for (long seed = 0; seed < PROBLEMS; seed++) {
      Tasks t = tasks(seed);
      int k = new Random(seed).nextInt(t.r.fronts().size());
      FrontFactor f = t.r.fronts().get(k);
      var renamed = new ArrayList<>(t.r.fronts());
      renamed.set(
          k,
          new FrontFactor(f.front() + 1, f.fn(), f.livePivot(), f.values(), f.rhs(), f.rhsCount()));
      var swapped = new ArrayList<>(t.r.fronts());
      Collections.swap(swapped, k, 0);
      var more = new ArrayList<>(t.r.fronts());
      more.add(f);
      var less = new ArrayList<>(t.r.fronts());
      less.remove(k);
      for (List<FrontFactor> fronts : List.of(renamed, swapped, more, less)) {
        if (fronts != swapped || k > 0) {
          SubtreeFactor wrong =
              new SubtreeFactor(fronts, t.r.outputs(), t.r.residualSquares(), t.r.summary());
          seen(t.below, wrong, "seed " + seed + ", front " + f.front());
          planted++;
        }
      }
    }
    assertThat(planted).isGreaterThan(3 * PROBLEMS);
  }

  @Test
  void aBlockTwiceOrLost() {
    for (long seed = 0; seed < PROBLEMS; seed++) {
      Tasks t = tasks(seed);
      accepted(t.above, t.s, "seed " + seed);
      var twice = new ArrayList<>(t.above.inputs());
      twice.add(twice.get(0));
      var lost = t.above.inputs().subList(1, t.above.inputs().size());
      for (List<ContributionBlock> in : List.of(twice, lost)) {
        var other = new SubtreeProblem(t.above.analysis(), t.above.fronts(), t.above.rows(), in);
        seen(other, t.s, "seed " + seed + ", " + in.size() + " blocks");
      }
    }
  }
}
