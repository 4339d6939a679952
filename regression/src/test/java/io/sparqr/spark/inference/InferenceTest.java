/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.inference;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.backend.BackendChoice;
import io.sparqr.numeric.Tolerances;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.spark.GpuSparseQR;
import io.sparqr.spark.LocalSpark;
import io.sparqr.spark.QRFactorization;
import io.sparqr.spark.SparseQRSolver;
import io.sparqr.spark.model.SparseRow;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaRDD;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Covariances, contrasts, tests, predictions: against dense QR of the live columns. */
@Tag("numbers")
class InferenceTest {

  private static final long SEED = Long.getLong("test.seed", 20260611L);

  private static SparseQRSolver solver(boolean singletons, int levels) {
    return GpuSparseQR.builder()
        .backend(BackendChoice.CPU)
        .singletons(singletons)
        .executors(2)
        .partitionOptions(new PartitionOptions(3, 4, levels, 0))
        .build();
  }

  private static JavaRDD<SparseRow> rdd(List<SparseRow> rows) {
    return LocalSpark.context().parallelize(rows, 3);
  }

  private static List<SparseRow> rows(double[][] a, double[] b) {
    var list = new ArrayList<SparseRow>();
    for (int i = 0; i < a.length; i++) {
      list.add(DenseFit.row(a[i], b[i], 1));
    }
    return list;
  }

  @ParameterizedTest
  @CsvSource({"true,1", "true,3", "false,3"})
  void whateverTheDesignItIsThatOfDenseQr(boolean singletons, int levels) {
    long seed = SEED + levels + (singletons ? 10 : 0);
    var random = new Random(seed);
    double[][] a = DenseFit.blocks(random, 12);
    double[] b = random.doubles(a.length, -5, 5).toArray();
    List<SparseRow> rows = rows(a, b);
    try (QRFactorization f = solver(singletons, levels).factorize(rdd(rows))) {
      var found = Inference.of(f, rdd(rows));
      var dense = new DenseFit(a, b, f.deadColumns());
      double sigma = dense.norm() / Math.sqrt(a.length - f.rank());
      String what = "seed " + seed + ", condition " + dense.condition;
      assertThat(f.deadColumns()).as(what).isNotEmpty();
      assertThat(found.sigma())
          .as(what)
          .isCloseTo(sigma, within(Tolerances.ILL_CONDITIONED * sigma));
      checkCovariance(found, dense, what);
      checkContrasts(found, dense, contrasts(a, dense, random), what);
    }
  }

  /** All entries: more than a batch. */
  private static void checkCovariance(Inference found, DenseFit dense, String what) {
    int[] all = IntStream.range(0, dense.n).toArray();
    double sigma = found.sigma();
    for (int[] columns : List.of(all, Arrays.copyOf(all, 20))) {
      double[][] v = found.covariance(columns);
      for (int i : columns) {
        for (int j : columns) {
          boolean live =
              Arrays.binarySearch(dense.live, i) >= 0 && Arrays.binarySearch(dense.live, j) >= 0;
          if (!live) {
            assertThat(v[i][j]).as("dead %d, %d, %s", i, j, what).isNaN();
            continue;
          }
          double size = sigma * sigma * Math.sqrt(dense.z[i][i] * dense.z[j][j]);
          assertThat(v[i][j])
              .as("entry %d, %d, %s", i, j, what)
              .isCloseTo(sigma * sigma * dense.z[i][j], within(dense.tolerance() * size));
          assertThat(v[i][j]).isEqualTo(v[j][i]);
        }
      }
    }
  }

  /** Rows of A, sums of them, unit vectors, and random vectors. */
  private static List<SparseRow> contrasts(double[][] a, DenseFit dense, Random random) {
    var list = new ArrayList<SparseRow>();
    for (int k = 0; k < 150; k++) {
      double[] l = new double[dense.n];
      switch (k % 3) {
        case 0 -> {
          for (int t = 0; t < 3; t++) {
            double[] row = a[random.nextInt(a.length)];
            double factor = random.nextGaussian();
            for (int j = 0; j < l.length; j++) {
              l[j] += factor * row[j];
            }
          }
        }
        case 1 -> l[random.nextInt(l.length)] = 1;
        default -> {
          for (int t = 0; t < 3; t++) {
            l[random.nextInt(l.length)] = random.nextInt(5) - 2;
          }
        }
      }
      for (int j = 0; j < l.length && k % 3 > 0; j++) {
        // relative to the columns' units: a unit of 1e-8 beside one of 1e8 is lost in rounding
        l[j] *= dense.scale[j] == 0 ? 1 : dense.scale[j];
      }
      list.add(DenseFit.row(l, random.nextInt(3), 1));
    }
    return list;
  }

  private static void checkContrasts(
      Inference found, DenseFit dense, List<SparseRow> contrasts, String what) {
    List<ContrastTest> tests = found.contrasts(contrasts);
    boolean[] estimable = found.estimable(contrasts);
    int yes = 0;
    for (int k = 0; k < estimable.length; k++) {
      SparseRow l = contrasts.get(k);
      boolean expected = dense.isEstimable(l);
      boolean live = true;
      double estimate = -l.labels()[0];
      double size = Math.abs(estimate);
      for (int e = 0; e < l.indices().length; e++) {
        live &= Arrays.binarySearch(dense.live, l.indices()[e]) >= 0;
        estimate += l.values()[e] * dense.x[l.indices()[e]];
        size += Math.abs(l.values()[e] * dense.x[l.indices()[e]]);
      }
      assertThat(estimable[k]).as("contrast %d %s, %s", k, what, l).isEqualTo(expected);
      yes += expected ? 1 : 0;
      ContrastTest t = tests.get(k);
      assertThat(t.estimable()).isEqualTo(expected);
      if (!expected && !live) {
        assertThat(t.estimate()).isNaN();
        assertThat(t.pValue()).isNaN();
        continue;
      }
      double error = found.sigma() * Math.sqrt(dense.form(l, l));
      assertThat(t.estimate())
          .as("contrast %d, %s", k, what)
          .isCloseTo(estimate, within(dense.tolerance() * (size + dense.condition * error)));
      assertThat(t.standardError())
          .as("contrast %d, %s", k, what)
          .isCloseTo(error, within(dense.tolerance() * (error + Double.MIN_NORMAL)));
    }
    assertThat(yes).as("estimable ones of 150").isBetween(51, 149);
  }

  /** The tests of a small model: F as by refitting, Wald of one contrast = t^2. */
  @Test
  void jointTestsAreThoseOfTheSmallerModel() {
    var random = new Random(SEED);
    int m = 60;
    double[][] a = new double[m][6];
    double[] b = new double[m];
    for (int i = 0; i < m; i++) {
      for (int j = 0; j < 6; j++) {
        a[i][j] = j == 0 ? 1 : random.nextGaussian();
      }
      b[i] = 1 + a[i][1] + 0.2 * a[i][2] + random.nextGaussian();
    }
    double[][] small = Arrays.stream(a).map(r -> Arrays.copyOf(r, 3)).toArray(double[][]::new);
    JavaRDD<SparseRow> large = rdd(rows(a, b));
    JavaRDD<SparseRow> less = rdd(rows(small, b));
    try (QRFactorization f = solver(true, 1).factorize(large);
        QRFactorization g = solver(true, 1).factorize(less)) {
      var m2 = Inference.of(f, large);
      var m1 = Inference.of(g, less);
      Anova anova = Anova.of(m1, m2);
      WaldTest wald = m2.waldTest(Batches.units(new int[] {3, 4, 5}));
      assertThat(wald.f()).isCloseTo(anova.f(), within(Tolerances.RESIDUAL * anova.f()));
      assertThat(wald.pValue()).isCloseTo(anova.pValue(), within(Tolerances.RESIDUAL));
      assertThat(anova.smallerFreedom() - anova.largerFreedom()).isEqualTo(3);
      ContrastTest t = m2.contrasts(Batches.units(new int[] {4})).get(0);
      WaldTest one = m2.waldTest(Batches.units(new int[] {4}));
      assertThat(one.f()).isCloseTo(t.tValue() * t.tValue(), within(Tolerances.SOLUTION * one.f()));
      assertThat(one.pValue()).isCloseTo(t.pValue(), within(Tolerances.SOLUTION));
      assertThatThrownBy(() -> Anova.of(m2, m1))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("the larger model comes second");
      assertThatThrownBy(() -> m2.waldTest(Batches.units(new int[] {3, 4, 3})))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("contrast 2 depends on those before it");
    }
  }

  /** Gram of W'W and of W are the same; there are more contrasts than a batch has. */
  @Test
  void manyContrastsAreTestedAsFewAre() {
    var random = new Random(SEED);
    int m = 400;
    int n = 90;
    double[][] a = new double[m][n];
    double[] b = random.doubles(m, -1, 1).toArray();
    for (double[] row : a) {
      for (int t = 0; t < 6; t++) {
        row[random.nextInt(n)] = random.nextGaussian();
      }
    }
    JavaRDD<SparseRow> rows = rdd(rows(a, b));
    try (QRFactorization f = solver(true, 2).factorize(rows)) {
      var found = Inference.of(f, rows);
      var dense = new DenseFit(a, b, f.deadColumns());
      int[] columns = IntStream.range(5, 85).toArray();
      WaldTest all = found.waldTest(Batches.units(columns));
      double[][] rest =
          Arrays.stream(a)
              .map(
                  r -> {
                    double[] s = Arrays.copyOf(r, 10);
                    System.arraycopy(r, 85, s, 5, 5);
                    return s;
                  })
              .toArray(double[][]::new);
      double small = new DenseFit(rest, b, new int[0]).norm();
      double large = dense.norm();
      double expected = (small * small - large * large) / 80 / (large * large) * (m - n);
      assertThat(all.f())
          .as("seed %d", SEED)
          .isCloseTo(expected, within(Tolerances.ILL_CONDITIONED * expected));
      var w = found.waldTest(Batches.units(Arrays.copyOf(columns, 30)));
      double[][] g = found.covariance(Batches.units(Arrays.copyOf(columns, 30)));
      double[] c = new double[30];
      for (int k = 0; k < 30; k++) {
        c[k] = found.coefficients()[columns[k]];
      }
      assertThat(w.chiSquared())
          .isCloseTo(Gram.of(g, c), within(Tolerances.ILL_CONDITIONED * w.chiSquared()));
    }
  }

  @Test
  void fitsOfOtherObservationsAreNotCompared() {
    double[][] a = {{1, 0}, {1, 1}, {1, 2}, {1, 4}};
    double[][] ones = {{1}, {1}, {1}, {1}};
    double[] b = {1, 2, 4, 3};
    double[] other = {1, 2, 3, 4};
    JavaRDD<SparseRow> rows = rdd(rows(a, b));
    for (JavaRDD<SparseRow> less :
        List.of(rdd(rows(ones, other)), rdd(rows(ones, b)).coalesce(1))) {
      try (QRFactorization f = solver(true, 1).factorize(rows);
          QRFactorization g = solver(true, 1).factorize(less)) {
        assertThatThrownBy(() -> Anova.of(Inference.of(g, less), Inference.of(f, rows)))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining("not of the same observations");
      }
    }
  }

  @Test
  void predictionsHaveTheErrorsOfTheirRows() {
    var random = new Random(SEED);
    double[][] a = DenseFit.blocks(random, 6);
    double[] b = random.doubles(a.length, -5, 5).toArray();
    JavaRDD<SparseRow> rows = rdd(rows(a, b));
    try (QRFactorization f = solver(true, 2).factorize(rows)) {
      var found = Inference.of(f, rows);
      var dense = new DenseFit(a, b, f.deadColumns());
      var fresh = new ArrayList<SparseRow>();
      for (int i = 0; i < 100; i++) {
        fresh.add(DenseFit.row(a[i % a.length], 0, 1 + i % 3));
      }
      double[] gap = new double[dense.n];
      gap[f.deadColumns()[0]] = 1;
      fresh.add(DenseFit.row(gap, 0, 1));
      List<Prediction> all = found.predict(fresh);
      double sigma = found.sigma();
      for (int i = 0; i < 100; i++) {
        Prediction p = all.get(i);
        int k = i % a.length;
        double error = sigma * Math.sqrt(dense.leverage[k]);
        double size = dense.tolerance() * (1 + dense.norm() + Math.abs(b[k]));
        assertThat(p.fit()).isCloseTo(b[k] - dense.residual[k], within(size));
        assertThat(p.standardError()).isCloseTo(error, within(dense.tolerance() * sigma));
        assertThat(p.observationError())
            .isCloseTo(
                Math.sqrt(error * error + sigma * sigma / (1 + i % 3)),
                within(dense.tolerance() * sigma));
        double[] mean = p.confidenceInterval(0.95);
        double[] one = p.predictionInterval(0.95);
        assertThat(one[0]).isLessThan(mean[0]);
        assertThat((mean[0] + mean[1]) / 2).isCloseTo(p.fit(), within(size));
      }
      assertThat(all.get(100).fit()).as("a dead column alone").isNaN();

      var alone = Inference.of(f);
      assertThat(alone.predict(fresh)).map(Prediction::toString).isEqualTo(texts(all));
      for (ThrowingCallable passing : List.<ThrowingCallable>of(alone::influence, alone::press)) {
        assertThatThrownBy(passing)
            .isInstanceOf(IllegalStateException.class)
            .hasMessageContaining("takes the rows of the fit");
      }
    }
  }

  private static List<String> texts(List<Prediction> predictions) {
    return predictions.stream().map(Prediction::toString).toList();
  }
}
