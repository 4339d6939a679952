/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.backend.BackendChoice;
import io.sparqr.numeric.Tolerances;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.spark.model.SparseRow;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Standard errors of factorizations on Spark: hundreds of random designs as the blocks of one
 * matrix, each with dense QR of its kept columns as its oracle. {@code -Dsparqr.statistics.blocks}
 * takes more blocks.
 */
@Tag("numbers")
class StatisticsTest {

  private static final long SEED = Long.getLong("test.seed", 20260302L);
  private static final int BLOCKS = Integer.getInteger("sparqr.statistics.blocks", 250);

  /** What computes. */
  BackendChoice backend() {
    return BackendChoice.CPU;
  }

  @ParameterizedTest
  @CsvSource({"true,1", "true,3", "false,1", "false,2"})
  void everyBlockHasTheErrorsOfItsKeptColumns(boolean singletons, int levels) {
    var random = new Random(SEED + levels + (singletons ? 100 : 0));
    List<double[][]> blocks = new ArrayList<>();
    List<double[]> labels = new ArrayList<>();
    List<SparseRow> rows = new ArrayList<>();
    int n = 0;
    for (int k = 0; k < BLOCKS; k++) {
      blocks.add(Designs.random(random).weighted());
      n += blocks.get(k)[0].length;
    }
    int first = 0;
    for (double[][] a : blocks) {
      double[] b = random.ints(a.length, -9, 10).asDoubleStream().toArray();
      labels.add(b);
      for (int i = 0; i < a.length; i++) {
        rows.add(row(a[i], first, b[i], n));
      }
      first += a[0].length;
    }
    try (QRFactorization f =
        GpuSparseQR.builder()
            .backend(backend())
            .singletons(singletons)
            .ordering(OrderingMethod.AMD)
            .executors(2)
            .partitionOptions(new PartitionOptions(3, 4, levels, 0))
            .factorize(LocalSpark.context().parallelize(rows, 3))) {
      assertThat(f.analysis().singletons() > BLOCKS / 2).isEqualTo(singletons);
      check(f, blocks, labels, rows.size());
    }
  }

  private static SparseRow row(double[] dense, int first, double b, int n) {
    int[] index = IntStream.range(0, dense.length).filter(j -> dense[j] != 0).toArray();
    double[] value = Arrays.stream(index).mapToDouble(j -> dense[j]).toArray();
    int[] moved = Arrays.stream(index).map(j -> j + first).toArray();
    return new SparseRow(moved, value, new double[] {b}, 1, n);
  }

  private static void check(
      QRFactorization f, List<double[][]> blocks, List<double[]> labels, int m) {
    double[] unscaled = f.unscaledErrors();
    double[] errors = f.standardErrors();
    double norm = 0;
    int kept = 0;
    int first = 0;
    for (int k = 0; k < blocks.size(); k++) {
      int from = first;
      int to = from + blocks.get(k)[0].length;
      int[] dead =
          Arrays.stream(f.deadColumns())
              .filter(j -> j >= from && j < to)
              .map(j -> j - from)
              .toArray();
      var oracle = new DenseStatistics(blocks.get(k), labels.get(k), dead);
      oracle.check(
          blocks.get(k), Arrays.copyOfRange(unscaled, from, to), "block " + k + ", seed " + SEED);
      norm = Math.hypot(norm, oracle.residual(blocks.get(k), labels.get(k), labels.get(k).length));
      kept += oracle.kept.length;
      first = to;
    }
    double sigma = norm / Math.sqrt(m - kept);
    assertThat(f.deadColumns().length).isGreaterThan(blocks.size());
    for (int j = 0; j < unscaled.length; j++) {
      if (!Double.isNaN(unscaled[j])) {
        assertThat(errors[j] / unscaled[j])
            .as("sigma in column %d, seed %d", j, SEED)
            .isCloseTo(sigma, within(Tolerances.RESIDUAL * sigma));
      }
    }
  }

  /** Four rows of two duplicated dummies: R's figures for the columns that were kept. */
  @ParameterizedTest
  @CsvSource({"true", "false"})
  void theSmallestRankDeficientRegression(boolean singletons) {
    double[][] a = {{1, 0, 0, 1, 1}, {0, 1, 1, 0, 1}, {0, 1, 1, 0, 1}, {0, 1, 1, 0, 1}};
    double[] b = {1, 8, 4, 6};
    List<SparseRow> rows = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      rows.add(row(a[i], 0, b[i], 5));
    }
    try (QRFactorization f =
        GpuSparseQR.builder()
            .backend(backend())
            .singletons(singletons)
            .factorize(LocalSpark.context().parallelize(rows, 2))) {
      double[] errors = f.standardErrors();
      var oracle = new DenseStatistics(a, b, f.deadColumns());
      oracle.check(a, f.unscaledErrors(), "four rows");
      assertThat(f.rank()).isEqualTo(2);
      for (int j = 0; j < 5; j++) {
        if (!Double.isNaN(oracle.unscaledErrors[j])) {
          assertThat(errors[j])
              .isCloseTo(2 * oracle.unscaledErrors[j], within(Tolerances.REORDERED));
        } else {
          assertThat(errors[j]).isNaN();
        }
      }
    }
  }

  /** As many rows as the rank: a residual of rounding errors is not a variance. */
  @Test
  void withoutDegreesOfFreedomThereAreNoErrors() {
    double[][] a = {{3, 1}, {1, 7}};
    List<SparseRow> rows = List.of(row(a[0], 0, 0.1, 2), row(a[1], 0, 0.7, 2));
    for (double ridge : new double[] {0, 0.5}) {
      try (QRFactorization f =
          GpuSparseQR.builder()
              .backend(backend())
              .ridge(ridge)
              .factorize(LocalSpark.context().parallelize(rows, 1))) {
        assertThat(f.standardErrors()).as("ridge %s", ridge).containsOnly(Double.NaN);
        assertThat(f.unscaledErrors()).doesNotContain(Double.NaN);
      }
    }
  }

  /** A small ridge on a nearly exact fit: the ridge's part is nearly the whole norm. */
  @Test
  void aTinyRidgeDoesNotEatTheResidual() {
    double[][] a = {{1, 2}, {1, 3}, {1, 5}, {1, 7}};
    double[] b = new double[4];
    List<SparseRow> rows = new ArrayList<>();
    double[] r = {2, -3, 0, 1};
    for (int i = 0; i < 4; i++) {
      b[i] = 1e3 * (a[i][0] + a[i][1]) + 1e-6 * r[i];
      rows.add(row(a[i], 0, b[i], 2));
    }
    try (QRFactorization f =
        GpuSparseQR.builder()
            .backend(backend())
            .ridge(1e-9)
            .factorize(LocalSpark.context().parallelize(rows, 1))) {
      double[] x = f.solve().x();
      double norm = 0;
      for (int i = 0; i < 4; i++) {
        // b - Ax is a millionth of a millionth of b: doubles would leave four digits of it
        BigDecimal rest = new BigDecimal(b[i]);
        for (int j = 0; j < 2; j++) {
          rest = rest.subtract(new BigDecimal(x[j]).multiply(new BigDecimal(a[i][j])));
        }
        norm = Math.hypot(norm, rest.doubleValue());
      }
      assertThat(f.solve().residualNorm()).isCloseTo(norm, within(Tolerances.SOLUTION * norm));
      assertThat(f.standardErrors()[0] / f.unscaledErrors()[0])
          .isCloseTo(norm / Math.sqrt(2), within(Tolerances.SOLUTION * norm));
    }
  }
}
