/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.backend.BackendChoice;
import io.sparqr.error.DimensionMismatchException;
import io.sparqr.numeric.Tolerances;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.report.LeastSquaresSolution;
import io.sparqr.sparse.CsrMatrix;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaRDD;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Later right-hand sides by the kept Q have the same solutions as right-hand sides that are carried
 * along.
 */
@Tag("once")
class KeptQTest {

  private static final long SEED = Long.getLong("test.seed", 20260105L);

  private static GpuSparseQR.Builder keeping() {
    return GpuSparseQR.builder().backend(BackendChoice.CPU).keepQ(true);
  }

  private static GpuSparseQR.Builder cut(int levels) {
    return keeping()
        .ordering(OrderingMethod.NESTED_DISSECTION)
        .executors(2)
        .partitionOptions(new PartitionOptions(2, 4, levels, 0));
  }

  private static JavaRDD<double[]> aligned(int partitions, double[]... b) {
    List<double[]> list =
        IntStream.range(0, b[0].length)
            .mapToObj(i -> Arrays.stream(b).mapToDouble(c -> c[i]).toArray())
            .toList();
    return LocalSpark.context().parallelize(list, partitions);
  }

  /** Solves for b carried along, for b again and for c by the kept Q; c's solution is x(1). */
  private static void assertAgrees(SparseQRSolver qr, List<SparseRow> rows, int partitions) {
    int m = rows.size();
    double[] b = rows.stream().mapToDouble(r -> r.labels()[0]).toArray();
    double[] c = Problems.rhs(m, SEED + 9);
    var both = new ArrayList<SparseRow>();
    for (int i = 0; i < m; i++) {
      SparseRow r = rows.get(i);
      both.add(
          new SparseRow(
              r.indices(), r.values(), new double[] {b[i], c[i]}, r.weight(), r.columns()));
    }
    var context = LocalSpark.context();
    LeastSquaresSolution carried = qr.solve(context.parallelize(both, partitions));
    try (QRFactorization f = qr.factorize(context.parallelize(rows, partitions))) {
      LeastSquaresSolution first = f.solve();
      LeastSquaresSolution again = f.solve(aligned(partitions, b));
      LeastSquaresSolution further = f.solve(aligned(partitions, c, b, c));
      assertClose(again, 0, first, 0);
      assertClose(further, 0, carried, 1);
      assertClose(further, 1, first, 0);
      assertThat(further.x(2)).isEqualTo(further.x(0));
      assertThat(further.rank()).isEqualTo(carried.rank());
      assertThat(further.deadColumns()).isEqualTo(carried.deadColumns());
    }
    assertThat(context.getPersistentRDDs()).isEmpty();
  }

  private static void assertClose(
      LeastSquaresSolution s, int k, LeastSquaresSolution expected, int q) {
    double size = Arrays.stream(expected.x(q)).map(Math::abs).max().orElse(0);
    assertThat(s.x(k))
        .as("seed %d", SEED)
        .containsExactly(expected.x(q), within(Tolerances.SOLUTION * size));
    assertThat(s.residualNorms()[k])
        .as("residual, seed %d", SEED)
        .isCloseTo(
            expected.residualNorms()[q],
            within(Tolerances.RESIDUAL * (1 + expected.residualNorms()[q])));
  }

  @Test
  void overLevelsOfTheTreeAgainstADenseOracle() {
    CsrMatrix grid = Problems.grid(12, SEED);
    double[] b = Problems.rhs(grid.rows(), SEED + 1);
    double[] c = Problems.rhs(grid.rows(), SEED + 2);
    double[][] dense = Problems.dense(grid);
    for (int levels = 1; levels <= 3; levels++) {
      try (QRFactorization f = cut(levels).factorize(Problems.rdd(grid, 3, b))) {
        assertThat(f.summary().analysis().levels()).isEqualTo(levels);
        LeastSquaresSolution s = f.solve(aligned(3, c, b));
        assertThat(s.x(0))
            .containsExactly(Problems.solveDense(dense, c), within(Tolerances.SOLUTION));
        assertThat(s.x(1)).containsExactly(f.solve().x(), within(Tolerances.REORDERED));
        assertThat(s.residualNorms()[0])
            .isCloseTo(
                Problems.norm(Problems.residual(grid, s.x(0), c)), within(Tolerances.REORDERED));
      }
    }
  }

  @Test
  void singletonsRankDeficiencyWideAndTall() {
    CsrMatrix singletons = Problems.withSingletons(Problems.random(60, 20, 4, SEED), 5, SEED);
    assertAgrees(cut(2).build(), Problems.rows(singletons, Problems.rhs(65, SEED)), 2);
    CsrMatrix random = Problems.random(90, 40, 4, SEED);
    double[] twice = random.values().clone();
    for (int k = 0; k < twice.length; k++) {
      // column 7 vanishes
      twice[k] = random.columnIndex()[k] == 7 ? 0 : twice[k];
    }
    CsrMatrix deficient = new CsrMatrix(90, 40, random.rowStart(), random.columnIndex(), twice);
    assertAgrees(cut(2).columns(40).build(), Problems.rows(deficient, Problems.rhs(90, SEED)), 3);
    CsrMatrix wide = Problems.random(30, 70, 5, SEED);
    assertAgrees(cut(2).build(), Problems.rows(wide, Problems.rhs(30, SEED)), 2);
    CsrMatrix tall = Problems.random(6000, 6, 3, SEED);
    assertAgrees(keeping().build(), Problems.rows(tall, Problems.rhs(6000, SEED)), 4);
  }

  @Test
  void ridgeWeightsAndEmptyRows() {
    CsrMatrix a = Problems.random(80, 30, 4, SEED);
    var random = new Random(SEED);
    var rows = new ArrayList<SparseRow>();
    for (SparseRow r : Problems.rows(a, Problems.rhs(80, SEED))) {
      double weight = random.nextInt(6) == 0 ? 0 : 0.5 + random.nextDouble();
      rows.add(new SparseRow(r.indices(), r.values(), r.labels(), weight, r.columns()));
      if (random.nextInt(9) == 0) {
        rows.add(new SparseRow(new int[0], new double[0], new double[] {0.5}, 2, r.columns()));
      }
    }
    assertAgrees(cut(2).build(), rows, 3);
    assertAgrees(cut(1).ridge(0.3).build(), rows, 2);
    assertAgrees(cut(3).ridge(1e-3).singletons(false).build(), rows, 3);
  }

  /** Columns come in pairs that differ by 1e-10: the condition number exceeds 1e10. */
  private static CsrMatrix illConditioned() {
    CsrMatrix a = Problems.random(240, 40, 4, SEED);
    var random = new Random(SEED);
    int pairs = 20;
    int[] start = new int[a.rows() + 1];
    int[] index = new int[2 * a.nonzeros()];
    double[] value = new double[2 * a.nonzeros()];
    int at = 0;
    for (int i = 0; i < a.rows(); i++) {
      for (int pass = 0; pass < 2; pass++) {
        for (int k = a.rowStart()[i]; k < a.rowStart()[i + 1]; k++) {
          int j = a.columnIndex()[k];
          if (pass == 0 || j < pairs) {
            index[at] = pass == 0 ? j : 40 + j;
            value[at++] = a.values()[k] + (pass == 0 ? 0 : 1e-10 * random.nextGaussian());
          }
        }
      }
      start[i + 1] = at;
    }
    return new CsrMatrix(
        a.rows(), 40 + pairs, start, Arrays.copyOf(index, at), Arrays.copyOf(value, at));
  }

  @Test
  void keepsTheDigitsThatTheSemiNormalEquationsLose() {
    CsrMatrix a = illConditioned();
    double[] b = Problems.rhs(a.rows(), SEED + 1);
    double[] planted = Problems.rhs(a.columns(), SEED + 2);
    double[] c = a.multiply(planted);
    LeastSquaresSolution carried = cut(2).solve(Problems.rdd(a, 3, c));
    assertThat(carried.rank()).isEqualTo(a.columns());
    try (QRFactorization f = cut(2).factorize(Problems.rdd(a, 3, b))) {
      double[] kept = f.solve(aligned(3, c)).x();
      double[] semiNormal = f.solveRelabeled(Problems.rdd(a, 3, c)).x();
      double[] fitted = a.multiply(difference(kept, carried.x()));
      assertThat(Problems.norm(fitted))
          .as("seed %d", SEED)
          .isLessThan(Tolerances.REORDERED * Problems.norm(c));
      double error = Problems.norm(difference(kept, planted));
      assertThat(error)
          .as("seed %d", SEED)
          .isLessThan(Tolerances.ofSolution(1e10, Problems.norm(planted)));
      assertThat(Problems.norm(difference(semiNormal, planted)))
          .as("what keepQ is for, seed %d", SEED)
          .isGreaterThan(100 * error);
    }
  }

  private static double[] difference(double[] x, double[] y) {
    double[] d = x.clone();
    Problems.axpy(-1, y, d);
    return d;
  }

  @Test
  void hugeAndTinyRightHandSides() {
    CsrMatrix grid = Problems.grid(8, SEED);
    double[] b = Problems.rhs(grid.rows(), SEED + 1);
    try (QRFactorization f = cut(2).factorize(Problems.rdd(grid, 2, b))) {
      LeastSquaresSolution one = f.solve();
      for (double scale : new double[] {0x1p900, 0x1p-900}) {
        double[] scaled = Arrays.stream(b).map(v -> v * scale).toArray();
        LeastSquaresSolution s = f.solve(aligned(2, scaled));
        for (int j = 0; j < grid.columns(); j++) {
          assertThat(s.x()[j] / scale).isCloseTo(one.x()[j], within(Tolerances.REORDERED));
        }
        assertThat(s.residualNorm() / scale)
            .isCloseTo(one.residualNorm(), within(Tolerances.REORDERED));
      }
    }
  }

  @Test
  void theReportSaysWhichWayWasTakenAndWhy() {
    CsrMatrix grid = Problems.grid(8, SEED);
    double[] b = Problems.rhs(grid.rows(), SEED + 1);
    JavaRDD<SparseRow> rows = Problems.rdd(grid, 2, b);
    try (QRFactorization f = cut(2).factorize(rows)) {
      assertThat(f.summary().notes())
          .anyMatch(w -> w.matches("Q is kept beside R: [1-9][0-9,]* bytes; .*"));
      LeastSquaresSolution s = f.solve(aligned(2, b));
      assertThat(s.report().notes()).contains("further right-hand sides by the kept Q");
      assertThat(s.report().residual().residualNorm()).isEqualTo(s.residualNorms());
      assertThat(f.solveRelabeled(rows).report().notes())
          .anyMatch(
              w ->
                  w.endsWith(
                      "semi-normal equations: rows in any order do not tell their"
                          + " reflectors"));
      assertThat(f.summary().notes()).noneMatch(w -> w.startsWith("further"));
    }
    try (QRFactorization f = cut(2).keepQ(false).factorize(rows)) {
      assertThat(f.summary().warnings()).isEmpty();
      assertThat(f.solve(aligned(2, b)).report().notes())
          .containsExactly(
              "further right-hand sides by the corrected semi-normal equations: Q was not kept");
    }
    assertThat(cut(2).solve(rows).report().warnings())
        .as("one-shot")
        .containsExactly("keepQ is for factorize: a solve leaves nothing behind that could keep Q");
  }

  @Test
  void refusesRightHandSidesThatAreNotAligned() {
    CsrMatrix grid = Problems.grid(8, SEED);
    double[] b = Problems.rhs(grid.rows(), SEED + 1);
    try (QRFactorization f = cut(1).factorize(Problems.rdd(grid, 2, b))) {
      assertThatThrownBy(() -> f.solve(aligned(2, new double[] {1, 2})))
          .isInstanceOf(DimensionMismatchException.class)
          .hasMessageContaining("more rows than right-hand sides");
      List<double[]> uneven = new ArrayList<>();
      for (int i = 0; i < b.length; i++) {
        uneven.add(new double[2 * i < b.length ? 1 : 2]);
      }
      assertThatThrownBy(() -> f.solve(LocalSpark.context().parallelize(uneven, 2)))
          .isInstanceOf(DimensionMismatchException.class)
          .hasMessageContaining("right-hand sides");
      assertThat(f.solve(aligned(2, b)).x()).hasSize(grid.columns());
    }
  }
}
