/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.SampledCases;
import io.sparqr.error.DimensionMismatchException;
import io.sparqr.error.NonFiniteValueException;
import io.sparqr.numeric.Tolerances;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.report.LeastSquaresSolution;
import io.sparqr.spark.report.SolveReport;
import io.sparqr.sparse.Permutation;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaRDD;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Appending rows equals fitting all of them. The oracles are one factorization and dense QR. */
@Tag("numbers")
class AppendTest {

  private static final long SEED = Long.getLong("test.seed", 20261123L);
  private static final int ROUNDS = Integer.getInteger("test.iters", 1);
  private static final double EPS = Tolerances.REORDERED;

  @TempDir Path folder;

  /** A design with columns that some batches do not have. */
  private record Case(List<List<SparseRow>> batches, int columns, int labels) {

    List<SparseRow> all() {
      return batches.stream().flatMap(List::stream).toList();
    }
  }

  /**
   * Random batches: two columns of dummies, numbers, weights that may be 0.
   *
   * @param fresh columns that only batch k and later ones have, for each k > 0
   */
  private static Case random(Random random, int batches, int fresh, int labels, boolean weights) {
    int first = 6 + random.nextInt(20);
    int n = first + fresh * (batches - 1);
    var list = new ArrayList<List<SparseRow>>();
    for (int k = 0; k < batches; k++) {
      int width = first + fresh * k;
      int m = width * 2 + random.nextInt(40);
      var rows = new ArrayList<SparseRow>();
      for (int i = 0; i < m; i++) {
        // every column occurs: the first rows visit all of them
        int a = i < width ? i : random.nextInt(width);
        int b = random.nextInt(width);
        int[] index = a == b ? new int[] {a} : new int[] {a, b};
        double[] value = random.doubles(index.length, 0.5, 2).toArray();
        double[] label = random.doubles(labels, -3, 3).toArray();
        double weight = weights ? random.nextInt(4) / 2.0 : 1;
        rows.add(new SparseRow(index, value, label, i < width ? 1 : weight, -1));
      }
      list.add(rows);
    }
    return new Case(list, n, labels);
  }

  private static JavaRDD<SparseRow> rdd(List<SparseRow> rows, int partitions) {
    return LocalSpark.context().parallelize(rows, partitions);
  }

  private static GpuSparseQR.Builder cut(int levels) {
    return GpuSparseQR.builder()
        .executors(2)
        .partitionOptions(new PartitionOptions(2, 4, levels, 0));
  }

  private static QRFactorization chain(
      GpuSparseQR.Builder builder, Case c, List<QRFactorization> made) {
    QRFactorization f = builder.factorize(rdd(c.batches.get(0), 3));
    made.add(f);
    for (int k = 1; k < c.batches.size(); k++) {
      f = f.append(rdd(c.batches.get(k), 2));
      made.add(f);
    }
    return f;
  }

  private static void assertSame(QRFactorization found, QRFactorization all, String what) {
    LeastSquaresSolution x = found.solve();
    LeastSquaresSolution y = all.solve();
    assertThat(found.rank()).as(what).isEqualTo(all.rank());
    assertThat(x.solutions().length).as(what).isEqualTo(y.solutions().length);
    for (int k = 0; k < y.solutions().length; k++) {
      assertClose(x.x(k), y.x(k), "x " + k + ", " + what);
      assertThat(Math.abs(x.residualNorms()[k] / y.residualNorms()[k] - 1))
          .as("residual norm %d, %s", k, what)
          .isLessThan(EPS);
      assertClose(found.standardErrors(k), all.standardErrors(k), "errors " + k + ", " + what);
    }
    SolveReport.Matrix m = found.summary().matrix();
    SolveReport.Matrix n = all.summary().matrix();
    assertThat(m).as(what).isEqualTo(n);
  }

  private static void assertClose(double[] found, double[] expected, String what) {
    assertThat(found).as(what).hasSameSizeAs(expected);
    double size =
        Arrays.stream(expected).map(Math::abs).filter(v -> !Double.isNaN(v)).max().orElse(0);
    for (int j = 0; j < expected.length; j++) {
      assertThat(Double.isNaN(found[j]))
          .as("%s, column %d", what, j)
          .isEqualTo(Double.isNaN(expected[j]));
      if (!Double.isNaN(found[j])) {
        assertThat(Math.abs(found[j] - expected[j]))
            .as("%s, column %d", what, j)
            .isLessThan(EPS * size);
      }
    }
  }

  @SampledCases(oneIn = 3)
  @ParameterizedTest
  @CsvSource({
    // batches, new columns a batch, right-hand sides, weights, ridge, levels
    "2, 0, 1, false, 0, 1",
    "2, 0, 2, true, 0, 2",
    "2, 3, 1, true, 0, 2",
    "3, 2, 3, true, 0.25, 2",
    "2, 0, 1, false, 4, 1",
    "5, 1, 1, true, 0, 1",
    "4, 0, 2, true, 0.01, 3",
  })
  void appendIsRefit(
      int batches, int fresh, int labels, boolean weights, double ridge, int levels) {
    for (int round = 0; round < ROUNDS; round++) {
      long seed = SEED + round;
      Case c = random(new Random(seed), batches, fresh, labels, weights);
      GpuSparseQR.Builder builder = cut(levels).ridge(ridge);
      var made = new ArrayList<QRFactorization>();
      try (QRFactorization all = builder.factorize(rdd(c.all(), 4))) {
        QRFactorization f = chain(builder, c, made);
        assertSame(f, all, "seed " + seed);
        // the factorization that was appended to is unchanged
        try (QRFactorization first = builder.factorize(rdd(c.batches.get(0), 3))) {
          assertSame(made.get(0), first, "the first, seed " + seed);
        }
      } finally {
        made.forEach(QRFactorization::close);
      }
    }
  }

  @Test
  void aRidgeOfOneLambdaAColumnCountsOnce() {
    Case c = random(new Random(SEED), 3, 0, 1, true);
    double[] lambdas = new Random(SEED).doubles(c.columns, 0, 2).toArray();
    lambdas[1] = 0;
    GpuSparseQR.Builder builder = cut(2).ridge(lambdas);
    var made = new ArrayList<QRFactorization>();
    try (QRFactorization all = builder.factorize(rdd(c.all(), 4))) {
      assertSame(chain(builder, c, made), all, "seed " + SEED);
      List<SparseRow> wider = List.of(new SparseRow(new int[] {c.columns}, new double[] {1}, 1));
      assertThatThrownBy(() -> all.append(rdd(wider, 1)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("1 new columns, and a ridge of one lambda a column");
    } finally {
      made.forEach(QRFactorization::close);
    }
  }

  /** Columns that are dependent in the first batch but not in the second, and the reverse. */
  @Test
  void deadColumnsMayComeToLifeAndOthersStayDead() {
    var random = new Random(SEED);
    int n = 8;
    var first = new ArrayList<SparseRow>();
    var second = new ArrayList<SparseRow>();
    var dense = new ArrayList<double[]>();
    for (int i = 0; i < 60; i++) {
      double[] v = random.doubles(n, -1, 1).toArray();
      // column 7 is the sum of 0 and 1 throughout; column 6 is column 2 in the first batch
      v[7] = v[0] + v[1];
      v[6] = i < 30 ? v[2] : v[6];
      dense.add(v);
      int[] index = {0, 1, 2, 3, 4, 5, 6, 7};
      (i < 30 ? first : second).add(new SparseRow(index, v, random.nextDouble()));
    }
    var all = new ArrayList<>(first);
    all.addAll(second);
    GpuSparseQR.Builder builder = cut(1).permutation(Permutation.identity(n));
    try (QRFactorization one = builder.factorize(rdd(first, 2));
        QRFactorization appended = one.append(rdd(second, 2));
        QRFactorization refit = builder.factorize(rdd(all, 2))) {
      assertThat(one.deadColumns()).containsExactly(6, 7);
      assertThat(appended.deadColumns()).containsExactly(7);
      assertSame(appended, refit, "seed " + SEED);
      double[] b = all.stream().mapToDouble(r -> r.labels()[0]).toArray();
      new DenseStatistics(dense.toArray(new double[0][]), b, new int[] {7})
          .check(dense.toArray(new double[0][]), appended.unscaledErrors(), "seed " + SEED);
    }
  }

  @Test
  void afterSavingAndLoadingToo() throws Exception {
    Case c = random(new Random(SEED + 5), 3, 2, 2, true);
    GpuSparseQR.Builder builder = cut(2).ridge(0.5);
    String saved = folder.resolve("night 1").toString();
    String again = folder.resolve("night 2").toString();
    try (QRFactorization f = builder.factorize(rdd(c.batches.get(0), 3))) {
      f.save(saved);
    }
    try (QRFactorization f = GpuSparseQR.load(LocalSpark.context(), saved);
        QRFactorization g = f.append(rdd(c.batches.get(1), 2))) {
      g.save(again);
    }
    try (QRFactorization g = GpuSparseQR.load(LocalSpark.context(), again);
        QRFactorization h = g.append(rdd(c.batches.get(2), 1));
        QRFactorization all = builder.factorize(rdd(c.all(), 4))) {
      assertSame(h, all, "seed " + SEED);
      LeastSquaresSolution others = h.solveRelabeled(rdd(c.all(), 5));
      assertClose(others.x(1), all.solve().x(1), "relabeled");
      assertThatThrownBy(() -> h.solve(rdd(c.all(), 5).map(SparseRow::labels)))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("solveRelabeled takes all rows");
    }
  }

  /** Refinement and the check pass over R and the new rows. */
  @Test
  void refinementAndCheckHoldForTheCompressedRows() {
    Case c = random(new Random(SEED + 9), 2, 1, 1, true);
    GpuSparseQR.Builder builder = cut(2).ridge(0.5).refinement(1).check(true);
    try (QRFactorization one = builder.factorize(rdd(c.batches.get(0), 3));
        QRFactorization f = one.append(rdd(c.batches.get(1), 3));
        QRFactorization all = builder.factorize(rdd(c.all(), 3))) {
      assertSame(f, all, "seed " + SEED);
      assertThat(f.summary().residual().normalResidual())
          .isBetween(0.0, Tolerances.NORMAL_RESIDUAL);
    }
  }

  /** Rows of R stand for their rows up to rounding errors, which a large x multiplies. */
  @Test
  void aNormThatRDoesNotTellExactlySaysWithinWhatItIsKnown() {
    int n = 12;
    var rows = new ArrayList<SparseRow>();
    var random = new Random(SEED);
    for (int i = 0; i < 4 * n; i++) {
      double[] value = new double[n];
      for (int j = 0; j < n; j++) {
        value[j] = 1.0 / (i + j + 1); // Hilbert
      }
      double[] label = {random.nextBoolean() ? 1 : -1};
      rows.add(new SparseRow(IntStream.range(0, n).toArray(), value, label, 1, n));
    }
    GpuSparseQR.Builder how = GpuSparseQR.builder().rankTolerance(0);
    try (QRFactorization first = how.factorize(rdd(rows.subList(0, 2 * n), 2));
        QRFactorization both = first.append(rdd(rows.subList(2 * n, 4 * n), 2));
        QRFactorization whole = how.factorize(rdd(rows, 2))) {
      LeastSquaresSolution s = both.solve();
      List<String> said =
          s.report().warnings().stream().filter(w -> w.contains("known only to within")).toList();
      assertThat(said).hasSize(1);
      double within =
          Double.parseDouble(said.get(0).replaceAll(".*known only to within (\\S+): .*", "$1"));
      double off = Math.abs(s.residualNorm() - exactNorm(rows, s.x()));
      assertThat(off).as("seed %d", SEED).isLessThanOrEqualTo(within).isPositive();
      assertThat(whole.solve().report().warnings())
          .noneMatch(w -> w.contains("known only to within"));
    }
    Case easy = random(random, 2, 0, 1, false);
    try (QRFactorization first = GpuSparseQR.builder().factorize(rdd(easy.batches().get(0), 2));
        QRFactorization both = first.append(rdd(easy.batches().get(1), 2))) {
      assertThat(both.solve().report().warnings())
          .noneMatch(w -> w.contains("known only to within"));
    }
  }

  private static double exactNorm(List<SparseRow> rows, double[] x) {
    var sum = BigDecimal.ZERO;
    for (SparseRow row : rows) {
      var r = new BigDecimal(row.labels()[0]);
      for (int k = 0; k < row.indices().length; k++) {
        var product = new BigDecimal(row.values()[k]).multiply(new BigDecimal(x[row.indices()[k]]));
        r = r.subtract(product);
      }
      sum = sum.add(r.multiply(r));
    }
    return Math.sqrt(sum.doubleValue());
  }

  @Test
  void wrongRowsAreRefusedWithTheirPlace() {
    Case c = random(new Random(SEED), 2, 0, 1, false);
    try (QRFactorization f = cut(1).factorize(rdd(c.batches.get(0), 3))) {
      var nan = new SparseRow(new int[] {0}, new double[] {Double.NaN}, 1);
      assertThatThrownBy(() -> f.append(rdd(List.of(c.batches.get(1).get(0), nan), 1)))
          .isInstanceOf(NonFiniteValueException.class)
          .hasMessageContaining("row 1 of partition 0");
      var wide = new SparseRow(new int[] {0}, new double[] {1}, new double[] {1, 2});
      assertThatThrownBy(() -> f.append(rdd(List.of(wide), 1)))
          .isInstanceOf(DimensionMismatchException.class);
      var narrow = new SparseRow(new int[] {0}, new double[] {1}, new double[] {1}, 1, 2);
      assertThatThrownBy(() -> f.append(rdd(List.of(narrow), 1)))
          .isInstanceOf(DimensionMismatchException.class);
    }
  }
}
