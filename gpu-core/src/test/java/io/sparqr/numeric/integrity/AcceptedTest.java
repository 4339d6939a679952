/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.integrity;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.Sampling;
import io.sparqr.backend.cpu.CpuSubtreeFactorizer;
import io.sparqr.backend.reference.ReferenceSubtreeFactorizer;
import io.sparqr.backend.schedule.SchedulerOptions;
import io.sparqr.error.InsufficientMemoryException;
import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeFactorizer;
import io.sparqr.numeric.TestMatrices;
import io.sparqr.sparse.CsrMatrix;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Right results are accepted, with a wide margin. */
class AcceptedTest {

  /** Departures are at most this part of the bound, which was not fitted to the tests. */
  private static final double ROOM = 0.5;

  private static final SchedulerOptions MIXED =
      SchedulerOptions.defaults().withBundle(3).withSmallFronts(600, 24);

  private static SubtreeFactor accepts(
      SubtreeFactorizer backend, IntegrityCases.Case c, FactorOptions o) {
    SubtreeFactor factor = backend.factor(c.problem(), o);
    double departure = TaskCheck.verify(c.problem(), factor, o);
    double worst = Math.max(departure, factor.summary().normDeparture());
    assertThat(worst)
        .as("%s on %s", c.name(), backend.description())
        .isLessThan(ROOM * Balance.bound(Steps.of(c.problem(), factor)));
    return factor;
  }

  @Test
  void randomProblemsOnTheHost() {
    double worst = 0;
    try (var cpu = new CpuSubtreeFactorizer()) {
      for (int seed : Sampling.numbers(3000).toArray()) {
        var c = IntegrityCases.random(seed);
        var o = new FactorOptions(c.tolerance(), 1, 0, seed % 7 == 0);
        worst = Math.max(worst, TaskCheck.verify(c.problem(), accepts(cpu, c, o), o));
      }
    }
    assertThat(worst).as("nothing was compared").isPositive();
  }

  /** Each stage is checked by the executor's sums, then the whole as a host's result would be. */
  @Test
  void randomProblemsInStages() {
    long several = 0;
    double worst = 0;
    int[] seeds = Sampling.numbers(1500).toArray();
    for (int seed : seeds) {
      var c = IntegrityCases.random(seed);
      try (var plain = new ReferenceSubtreeFactorizer(MIXED)) {
        var o = new FactorOptions(c.tolerance(), 1, 0, seed % 7 == 0);
        SubtreeFactor whole = accepts(plain, c, o);
        long budget = whole.summary().peakDeviceBytes() * (3 + seed % 6) / 10;
        var less = new FactorOptions(c.tolerance(), 1, budget, seed % 7 == 0);
        SubtreeFactor staged = accepts(plain, c, less);
        several += staged.summary().stages() > 1 ? 1 : 0;
        worst = Math.max(worst, staged.summary().normDeparture());
      } catch (InsufficientMemoryException e) {
        // A front that does not fit; the whole was accepted.
      }
    }
    // One problem of eight; under a third of that in a sample: once in 10,000 times.
    assertThat(several).isGreaterThan(seeds.length / 40);
    assertThat(worst).as("nothing was compared").isPositive();
  }

  /**
   * Dependent columns from the leaves to the root: fronts wait, are repaired, or are factored from
   * rows.
   */
  @Test
  void gridsWithZeroColumns() {
    for (int seed : Sampling.numbers(20).toArray()) {
      var random = new Random(seed);
      var grid = Gallery.generate("gen:cells2d" + (10 + seed));
      double[] v = grid.values().clone();
      double[] factor = new double[grid.columns()];
      for (int j = 0; j < factor.length; j++) {
        factor[j] = random.nextInt(12) == 0 ? 0 : random.nextInt(30) == 0 ? 1e-13 : 1;
      }
      for (int k = 0; k < v.length; k++) {
        v[k] *= factor[grid.columnIndex()[k]];
      }
      var a = new CsrMatrix(grid.rows(), grid.columns(), grid.rowStart(), grid.columnIndex(), v);
      double[] b = TestMatrices.vector(2 * a.rows(), random);
      var c = IntegrityCases.of("grid, seed " + seed, a, b, 2, random);
      try (var cpu = new CpuSubtreeFactorizer();
          var plain = new ReferenceSubtreeFactorizer(MIXED)) {
        accepts(cpu, c, new FactorOptions(c.tolerance(), 2, 0));
        SubtreeFactor whole = accepts(plain, c, new FactorOptions(c.tolerance(), 2, 0));
        long half = whole.summary().peakDeviceBytes() * 6 / 10;
        accepts(plain, c, new FactorOptions(c.tolerance(), 2, half));
      }
    }
  }

  /** Rounding errors of equal terms all have the same sign. */
  @Test
  void tallColumnsOfEqualEntries() {
    for (int columns : new int[] {1, 2, 5}) {
      double[][] dense = new double[200_000][columns];
      for (int i = 0; i < dense.length; i++) {
        dense[i][0] = 1 / Math.sqrt(dense.length);
        for (int j = 1; j < columns; j++) {
          dense[i][j] = i % columns == j ? 0.1 : 0;
        }
      }
      var a = TestMatrices.ofDense(dense, columns, false);
      double[] b = new double[dense.length];
      Arrays.fill(b, 0.3);
      var c = IntegrityCases.of("equal entries, " + columns, a, b, 1, new Random(columns));
      try (var cpu = new CpuSubtreeFactorizer();
          var plain = new ReferenceSubtreeFactorizer()) {
        accepts(cpu, c, new FactorOptions(c.tolerance(), 2, 0));
        accepts(plain, c, new FactorOptions(c.tolerance(), 2, 0));
      }
    }
  }

  /**
   * Like dummies under a ridge: the part that ends in the right-hand side is the same in each
   * front.
   */
  @Test
  void manyFrontsWithTheSameRows() {
    int n = 30_000;
    int[] start = new int[2 * n + 1];
    int[] column = new int[2 * n];
    double[] value = new double[2 * n];
    double[] b = new double[2 * n];
    for (int i = 0; i < 2 * n; i++) {
      start[i + 1] = i + 1;
      column[i] = i / 2;
      value[i] = i % 2 == 0 ? 1 : Math.sqrt(0.5);
      b[i] = i % 2 == 0 ? i / 2 % 11 - 5 : 0;
    }
    var a = new CsrMatrix(2 * n, n, start, column, value);
    var c = IntegrityCases.of("dummies under a ridge", a, b, 1, new Random(2));
    try (var cpu = new CpuSubtreeFactorizer();
        var plain = new ReferenceSubtreeFactorizer(MIXED)) {
      accepts(cpu, c, new FactorOptions(c.tolerance(), 2, 0));
      accepts(plain, c, new FactorOptions(c.tolerance(), 2, 0));
    }
  }

  /** All values are a third, a few slightly more: equal terms in every step. */
  @Test
  void rowsThatAreAlmostTheSame() {
    for (int columns : new int[] {1, 2, 8, 30, 120}) {
      for (int rows : new int[] {4 * columns, 1000, 60_000 / columns}) {
        double[][] dense = new double[rows][columns];
        for (int i = 0; i < rows; i++) {
          Arrays.fill(dense[i], 1.0 / 3);
          dense[i][i % columns] += 0.1;
        }
        var a = TestMatrices.ofDense(dense, columns, false);
        double[] b = TestMatrices.vector(rows, new Random(rows));
        var c = IntegrityCases.of("almost equal rows", a, b, 1, new Random(columns));
        try (var cpu = new CpuSubtreeFactorizer();
            var plain = new ReferenceSubtreeFactorizer()) {
          accepts(cpu, c, new FactorOptions(c.tolerance(), 2, 0));
          if (rows <= 1000) {
            accepts(plain, c, new FactorOptions(c.tolerance(), 2, 0));
          }
        }
      }
    }
  }

  @Test
  void theFiguresDoNotDependOnTheThreads() {
    var a = Gallery.generate("gen:cells2d120");
    double[] b = TestMatrices.vector(a.rows(), new Random(8));
    var c = IntegrityCases.of("threads", a, b, 1, new Random(8));
    try (var cpu = new CpuSubtreeFactorizer()) {
      SubtreeFactor factor = cpu.factor(c.problem(), new FactorOptions(c.tolerance(), 2, 0));
      double one = TaskCheck.verify(c.problem(), factor, new FactorOptions(c.tolerance(), 1, 0));
      for (int threads = 2; threads < 6; threads++) {
        var o = new FactorOptions(c.tolerance(), threads, 0);
        assertThat(TaskCheck.verify(c.problem(), factor, o)).isEqualTo(one);
      }
    }
  }
}
