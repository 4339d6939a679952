/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.inference;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.SampledCases;
import io.sparqr.backend.BackendChoice;
import io.sparqr.error.InputChangedException;
import io.sparqr.numeric.Tolerances;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.spark.GpuSparseQR;
import io.sparqr.spark.LocalSpark;
import io.sparqr.spark.QRFactorization;
import io.sparqr.spark.model.SparseRow;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.spark.api.java.JavaRDD;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Leverages and the statistics made from them: against dense QR, and against fits without the row.
 */
@Tag("numbers")
class LeverageTest {

  private static final long SEED = Long.getLong("test.seed", 20260612L);

  private static QRFactorization factorize(
      JavaRDD<SparseRow> rows, boolean singletons, int levels, double ridge) {
    return GpuSparseQR.builder()
        .backend(BackendChoice.CPU)
        .singletons(singletons)
        .ridge(ridge)
        .executors(2)
        .partitionOptions(new PartitionOptions(3, 4, levels, 0))
        .factorize(rows);
  }

  @SampledCases(oneIn = 4)
  @ParameterizedTest
  @CsvSource({"true,1,0", "true,3,0", "false,2,0", "true,2,0.5"})
  void everyRowHasItsOwn(boolean singletons, int levels, double ridge) {
    long seed = SEED + levels + (singletons ? 10 : 0) + (ridge > 0 ? 100 : 0);
    var random = new Random(seed);
    double[][] a = DenseFit.blocks(random, 25);
    int m = a.length;
    int n = a[0].length;
    double[] w = new double[m];
    var rows = new ArrayList<SparseRow>();
    for (int i = 0; i < m; i++) {
      if (i % 17 == 5) {
        Arrays.fill(a[i], 0);
      }
      w[i] = i % 11 == 3 ? 0 : 0.25 + random.nextInt(4);
      rows.add(DenseFit.row(a[i], random.nextGaussian(), w[i]));
    }
    JavaRDD<SparseRow> rdd = LocalSpark.context().parallelize(rows, 5);
    try (QRFactorization f = factorize(rdd, singletons, levels, ridge)) {
      String what = "seed " + seed;
      if (ridge == 0) {
        assertThat(f.analysis().singletons() > 10).as(what).isEqualTo(singletons);
        assertThat(f.deadColumns()).as(what).isNotEmpty();
      }
      DenseFit dense = weighted(rows, ridge, n, f.deadColumns());
      Inference inference = Inference.of(f, rdd);
      JavaRDD<Influence> influence = inference.influence();
      assertThat(influence.getNumPartitions()).isEqualTo(5);
      List<Influence> found = influence.collect();
      // read by tasks with other numbers
      assertThat(influence.coalesce(2).map(Influence::leverage).collect())
          .containsExactlyInAnyOrderElementsOf(found.stream().map(Influence::leverage).toList());
      assertThat(found).hasSize(m);
      double sum = 0;
      for (int i = 0; i < m; i++) {
        Influence r = found.get(i);
        sum += r.leverage();
        assertThat(r.leverage())
            .as("row %d of weight %s, %s", i, w[i], what)
            .isCloseTo(dense.leverage[i], within(dense.tolerance()));
        if (w[i] == 0) {
          assertThat(r.leverage()).isZero();
          assertThat(r.standardized()).isNaN();
        }
      }
      if (ridge == 0) {
        assertThat(sum).as(what).isCloseTo(f.rank(), within(Tolerances.RANDOM * n));
      } else {
        assertThat(sum).as(what).isLessThan(n - 1.0);
      }
      double[] errors = f.unscaledErrors();
      for (int j : dense.live) {
        double expected = Math.sqrt(dense.z[j][j]);
        assertThat(errors[j]).isCloseTo(expected, within(dense.tolerance() * expected));
      }
    }
  }

  /** Rows times sqrt(weight), weight 0 too, ridge rows below. */
  private static DenseFit weighted(List<SparseRow> rows, double ridge, int n, int[] dead) {
    var a = new ArrayList<double[]>();
    double[] b = new double[rows.size() + (ridge > 0 ? n : 0)];
    for (int i = 0; i < rows.size(); i++) {
      SparseRow r = rows.get(i);
      double[] row = new double[n];
      for (int k = 0; k < r.indices().length; k++) {
        row[r.indices()[k]] = r.values()[k] * Math.sqrt(r.weight());
      }
      b[i] = r.labels()[0] * Math.sqrt(r.weight());
      a.add(row);
    }
    for (int j = 0; ridge > 0 && j < n; j++) {
      double[] row = new double[n];
      row[j] = Math.sqrt(ridge);
      a.add(row);
    }
    return new DenseFit(a.toArray(double[][]::new), b, dead);
  }

  /** Deleted residuals, Cook's distance and external studentization: by fits without the row. */
  @Test
  void influenceIsThatOfLeavingTheRowOut() {
    var random = new Random(SEED);
    int m = 40;
    int n = 5;
    double[][] a = new double[m][n];
    var rows = new ArrayList<SparseRow>();
    for (int i = 0; i < m; i++) {
      for (int j = 0; j < n; j++) {
        a[i][j] = j == 0 ? 1 : random.nextInt(3) == 0 ? random.nextGaussian() : 0;
      }
      rows.add(DenseFit.row(a[i], random.nextGaussian(), 0.5 + random.nextInt(3)));
    }
    JavaRDD<SparseRow> rdd = LocalSpark.context().parallelize(rows, 3);
    try (QRFactorization f = factorize(rdd, true, 2, 0)) {
      Inference inference = Inference.of(f, rdd);
      List<Influence> found = inference.influence().collect();
      double[] x = inference.coefficients();
      double press = 0;
      for (int i = 0; i < m; i++) {
        var others = new ArrayList<>(rows);
        SparseRow row = others.remove(i);
        DenseFit without = weighted(others, 0, n, new int[0]);
        double e = row.labels()[0] - dot(row, without.x);
        Influence r = found.get(i);
        assertThat(r.deletedResidual()).as("row %d", i).isCloseTo(e, within(Tolerances.SOLUTION));
        press += row.weight() * e * e;
        double sigma = without.norm() / Math.sqrt(m - 1 - n);
        double own = Math.sqrt(row.weight()) * r.residual() / Math.sqrt(1 - r.leverage());
        assertThat(r.studentized())
            .as("row %d", i)
            .isCloseTo(own / sigma, within(Tolerances.RANDOM));
        double moved = 0;
        for (SparseRow other : rows) {
          double d = dot(other, x) - dot(other, without.x);
          moved += other.weight() * d * d;
        }
        double cook = moved / n / inference.sigma() / inference.sigma();
        assertThat(r.cooksDistance()).as("row %d", i).isCloseTo(cook, within(Tolerances.RANDOM));
      }
      assertThat(inference.press()).isCloseTo(press, within(Tolerances.RANDOM * press));
    }
  }

  private static double dot(SparseRow row, double[] x) {
    double sum = 0;
    for (int k = 0; k < row.indices().length; k++) {
      sum += row.values()[k] * x[row.indices()[k]];
    }
    return sum;
  }

  /** The same bits in every run. */
  @Test
  void twoRunsHaveTheSameBits() {
    double[][] a = DenseFit.blocks(new Random(SEED), 8);
    var rows = new ArrayList<SparseRow>();
    for (double[] row : a) {
      rows.add(DenseFit.row(row, row.length, 1));
    }
    JavaRDD<SparseRow> rdd = LocalSpark.context().parallelize(rows, 4);
    try (QRFactorization f = factorize(rdd, true, 3, 0);
        QRFactorization g = factorize(rdd, true, 3, 0)) {
      assertThat(f.leverages().collect().toArray(double[][]::new))
          .isDeepEqualTo(g.leverages().collect().toArray(double[][]::new));
    }
  }

  @Test
  void rowsThatAreOthersNowAreRefused() {
    double[][] a = {{1, 0}, {1, 1}, {1, 2}, {1, 4}};
    var rows = new ArrayList<SparseRow>();
    var others = new ArrayList<SparseRow>();
    for (int i = 0; i < 4; i++) {
      rows.add(DenseFit.row(a[i], i * i, 1));
      others.add(DenseFit.row(a[i], i == 2 ? 7 : i * i, 1));
    }
    JavaRDD<SparseRow> rdd = LocalSpark.context().parallelize(rows, 2);
    try (QRFactorization f = factorize(rdd, true, 1, 0)) {
      Inference other = Inference.of(f, LocalSpark.context().parallelize(others, 2));
      assertThatThrownBy(other::press)
          .isInstanceOf(InputChangedException.class)
          .hasMessageContaining("partition 1");
    }
  }
}
