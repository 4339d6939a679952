/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.inference;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.SampledCases;
import io.sparqr.backend.BackendChoice;
import io.sparqr.error.DimensionMismatchException;
import io.sparqr.numeric.Tolerances;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.spark.GpuSparseQR;
import io.sparqr.spark.LocalSpark;
import io.sparqr.spark.QRFactorization;
import io.sparqr.spark.model.SparseRow;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaRDD;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Robust covariances against their definition, and relations between them. */
@Tag("numbers")
class RobustPropertyTest {

  private static final long SEED = Long.getLong("test.seed", 20260614L);

  private final Random random = new Random(SEED);

  private static <T> T with(List<SparseRow> rows, Function<Inference, T> action) {
    JavaRDD<SparseRow> rdd = LocalSpark.context().parallelize(rows, 3);
    try (QRFactorization f =
        GpuSparseQR.builder()
            .backend(BackendChoice.CPU)
            .executors(2)
            .partitionOptions(new PartitionOptions(3, 4, 2, 0))
            .factorize(rdd)) {
      return action.apply(Inference.of(f, rdd));
    }
  }

  private static <T> JavaRDD<T> keys(List<T> keys) {
    return LocalSpark.context().parallelize(keys, 3);
  }

  private List<SparseRow> design(int blocks) {
    var rows = new ArrayList<SparseRow>();
    for (double[] a : DenseFit.blocks(random, blocks)) {
      rows.add(DenseFit.row(a, random.nextInt(19) - 9, 1));
    }
    return rows;
  }

  private static double[][] dense(List<SparseRow> rows) {
    int n = rows.get(0).columns();
    double[][] a = new double[rows.size()][n];
    for (int i = 0; i < a.length; i++) {
      SparseRow r = rows.get(i);
      for (int k = 0; k < r.indices().length; k++) {
        a[i][r.indices()[k]] = r.values()[k];
      }
    }
    return a;
  }

  /** Rank-deficient designs with rows of leverage 1; more columns than a batch, and fewer. */
  @SampledCases(oneIn = 4)
  @ParameterizedTest
  @EnumSource(HcType.class)
  void aSandwichIsThatOfItsDefinition(HcType type) {
    List<SparseRow> rows = design(10);
    int n = rows.get(0).columns();
    int[] all = IntStream.range(0, n).toArray();
    int[] few = random.ints(15, 0, n).distinct().toArray();
    assertThat(n).isGreaterThan(64);
    double[] b = rows.stream().mapToDouble(r -> r.labels()[0]).toArray();
    with(
        rows,
        found -> {
          double[] x = found.covariance(all)[0];
          int[] dead = dead(found, all);
          assertThat(dead).isNotEmpty();
          var fit = new DenseFit(dense(rows), b, dead);
          long ones = 0;
          double[][] v = new double[n][n];
          Set<Integer> undefined = new HashSet<>();
          Arrays.stream(dead).forEach(undefined::add);
          for (int i = 0; i < fit.a.length; i++) {
            double rest = 1 - fit.leverage[i];
            boolean one = rest < 1e-9;
            ones += one ? 1 : 0;
            double e =
                switch (type) {
                  case HC0 -> fit.residual[i];
                  case HC1 ->
                      fit.residual[i] * Math.sqrt(b.length / (double) (b.length - fit.live.length));
                  case HC2 -> one ? 0 : fit.residual[i] / Math.sqrt(rest);
                  case HC3 -> one ? 0 : fit.residual[i] / rest;
                };
            double[] u = new double[n];
            for (int j = 0; j < n; j++) {
              double moved = 0;
              for (int k = 0; k < n; k++) {
                moved += fit.z[j][k] * fit.a[i][k];
              }
              u[j] = e * moved;
              if (one && type.needsLeverages() && Math.abs(moved) > 1e-6 * Math.sqrt(fit.z[j][j])) {
                undefined.add(j);
              }
            }
            for (int j = 0; j < n; j++) {
              for (int k = 0; k < n; k++) {
                v[j][k] += u[j] * u[k];
              }
            }
          }
          RobustCovariance wide = found.robust(type, all);
          RobustCovariance small = found.robust(type, few);
          if (type.needsLeverages()) {
            assertThat(undefined.size()).isBetween(dead.length + 1, n - 10);
            assertThat(wide.rowsOfLeverageOne()).as("seed %d", SEED).isEqualTo(ones).isPositive();
          }
          double tolerance = Tolerances.ILL_CONDITIONED * fit.condition;
          for (int j = 0; j < n; j++) {
            boolean out = undefined.contains(j);
            double error = wide.standardErrors()[j];
            double sigma = found.sigma() * Math.sqrt(fit.z[j][j]);
            if (out) {
              assertThat(error).isNaN();
            } else {
              assertThat(error)
                  .as("column %d, seed %d", j, SEED)
                  .isCloseTo(Math.sqrt(v[j][j]), within(tolerance * sigma));
            }
          }
          for (int i = 0; i < few.length; i++) {
            for (int j = 0; j < few.length; j++) {
              double size =
                  found.sigma()
                      * found.sigma()
                      * Math.sqrt(fit.z[few[i]][few[i]] * fit.z[few[j]][few[j]]);
              double entry = small.covariance()[i][j];
              if (undefined.contains(few[i]) || undefined.contains(few[j])) {
                assertThat(entry).isNaN();
              } else {
                assertThat(entry).isCloseTo(v[few[i]][few[j]], within(tolerance * size));
              }
            }
          }
          assertThatThrownBy(wide::covariance)
              .isInstanceOf(UnsupportedOperationException.class)
              .hasMessageContaining("more than one batch");
          return x;
        });
  }

  private static int[] dead(Inference found, int[] all) {
    double[] one = found.robust(HcType.HC0, all).standardErrors();
    return IntStream.of(all).filter(j -> Double.isNaN(one[j])).toArray();
  }

  /** A panel's rows: an intercept, a covariate, some levels. */
  private List<SparseRow> panel(int m) {
    var rows = new ArrayList<SparseRow>();
    for (int i = 0; i < m; i++) {
      double[] a = new double[9];
      a[0] = 1;
      a[1] = random.nextGaussian();
      int level = random.nextInt(8);
      if (level > 0) {
        a[1 + level] = 1;
      }
      rows.add(DenseFit.row(a, a[1] + level + random.nextGaussian(), 1));
    }
    return rows;
  }

  private static final int[] NINE = IntStream.range(0, 9).toArray();

  private static void same(double[][] a, double[][] b, double tolerance) {
    for (int i = 0; i < a.length; i++) {
      for (int j = 0; j < a.length; j++) {
        double size = Math.sqrt(Math.abs(b[i][i] * b[j][j]));
        assertThat(a[i][j]).as("seed %d", SEED).isCloseTo(b[i][j], within(tolerance * size));
      }
    }
  }

  private static double[][] times(double[][] v, double factor) {
    return Arrays.stream(v)
        .map(r -> Arrays.stream(r).map(e -> e * factor).toArray())
        .toArray(double[][]::new);
  }

  @Test
  void clustersOfOneRowAreHc0() {
    List<SparseRow> rows = panel(90);
    with(
        rows,
        found -> {
          double[][] hc0 = found.robust(HcType.HC0, NINE).covariance();
          JavaRDD<String> own = keys(IntStream.range(0, 90).mapToObj(i -> "row " + i).toList());
          same(
              found.clustered(ClusterCorrection.none(), own, NINE).covariance(),
              hc0,
              Tolerances.REORDERED);
          same(
              found.clustered(ClusterCorrection.sandwichHc0(), own, NINE).covariance(),
              times(hc0, 90.0 / 89),
              Tolerances.REORDERED);
          RobustCovariance fixest = found.clustered(ClusterCorrection.fixest(), own, NINE);
          same(fixest.covariance(), times(hc0, 90.0 / 89 * 89 / 81), Tolerances.REORDERED);
          assertThat(fixest.degreesOfFreedom()).isEqualTo(89);
          same(
              found.clustered(ClusterCorrection.fixest(3), own, NINE).covariance(),
              times(hc0, 90.0 / 89 * 89 / 87),
              Tolerances.REORDERED);
          // clustering twice by one key equals clustering by it once
          JavaRDD<Integer> firm = keys(IntStream.range(0, 90).map(i -> i % 7).boxed().toList());
          RobustCovariance one = found.clustered(ClusterCorrection.fixest(), firm, NINE);
          same(
              found.clustered(ClusterCorrection.fixest(), firm, firm, NINE).covariance(),
              one.covariance(),
              Tolerances.SOLUTION);
          assertThat(one.degreesOfFreedom()).isEqualTo(6);
          assertThat(one.clusters()).containsExactly(7);
          return null;
        });
  }

  /** A row twice in one cluster is a row of weight 2. */
  @Test
  void duplicatesInOneClusterAreWeights() {
    List<SparseRow> rows = panel(70);
    var twice = new ArrayList<SparseRow>();
    var cluster = new ArrayList<Integer>();
    var weighted = new ArrayList<SparseRow>();
    for (int i = 0; i < rows.size(); i++) {
      SparseRow r = rows.get(i);
      int weight = 1 + i % 3;
      weighted.add(new SparseRow(r.indices(), r.values(), r.labels(), weight, r.columns()));
      for (int k = 0; k < weight; k++) {
        twice.add(r);
        cluster.add(i);
      }
    }
    double[][] hc0 = with(weighted, f -> f.robust(HcType.HC0, NINE).covariance());
    double[][] clustered =
        with(twice, f -> f.clustered(ClusterCorrection.none(), keys(cluster), NINE).covariance());
    same(clustered, hc0, Tolerances.SOLUTION);
  }

  /** Rows in another order and columns in other units give the same result, up to the units. */
  @Test
  void orderAndUnitsDoNotMatter() {
    List<SparseRow> rows = panel(80);
    var order = new ArrayList<>(IntStream.range(0, 80).boxed().toList());
    Collections.shuffle(order, random);
    var moved = new ArrayList<SparseRow>();
    for (int i : order) {
      SparseRow r = rows.get(i);
      double[] values = r.values().clone();
      values[1] *= 1024;
      moved.add(new SparseRow(r.indices(), values, r.labels(), 1, 9));
    }
    for (HcType type : HcType.values()) {
      double[][] v = with(rows, f -> f.robust(type, NINE).covariance());
      double[][] u = with(moved, f -> f.robust(type, NINE).covariance());
      for (int k = 0; k < 9; k++) {
        u[1][k] *= 1024;
        u[k][1] *= 1024;
      }
      same(u, v, Tolerances.SOLUTION);
    }
    Function<Integer, Integer> firm = i -> i % 11;
    var one = order.stream().map(firm).toList();
    double[][] v =
        with(
            rows,
            f ->
                f.clustered(
                        ClusterCorrection.none(),
                        keys(IntStream.range(0, 80).boxed().map(firm).toList()),
                        NINE)
                    .covariance());
    double[][] u =
        with(moved, f -> f.clustered(ClusterCorrection.none(), keys(one), NINE).covariance());
    assertThat(u[0][0]).isCloseTo(v[0][0], within(Tolerances.SOLUTION * v[0][0]));
    assertThat(u[1][1] * 1024 * 1024).isCloseTo(v[1][1], within(Tolerances.SOLUTION * v[1][1]));
  }

  @Test
  void twoRunsHaveTheSameBits() {
    List<SparseRow> rows = panel(200);
    List<String> firm = IntStream.range(0, 200).mapToObj(i -> "f" + i * 7 % 31).toList();
    List<Integer> year = IntStream.range(0, 200).mapToObj(i -> i * i % 13).toList();
    double[][][] seen = new double[2][][];
    for (int run = 0; run < 2; run++) {
      seen[run] =
          with(
              rows,
              f ->
                  f.clustered(ClusterCorrection.fixest(), keys(firm), keys(year), NINE)
                      .covariance());
    }
    assertThat(seen[0]).isDeepEqualTo(seen[1]);
  }

  @Test
  void whatCannotBeDoneIsSaid() {
    List<SparseRow> rows = panel(30);
    with(
        rows,
        f -> {
          assertThatThrownBy(() -> f.robust(HcType.HC0, new int[10_001]))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("10,001 columns, 10,000 at most")
              .hasMessageContaining("157 passes");
          JavaRDD<Integer> few = keys(IntStream.range(0, 29).boxed().toList());
          assertThatThrownBy(() -> f.clustered(ClusterCorrection.none(), few, NINE))
              .isInstanceOf(DimensionMismatchException.class)
              .hasMessageContaining("fewer cluster keys than rows");
          JavaRDD<Integer> many = keys(IntStream.range(0, 33).boxed().toList());
          assertThatThrownBy(() -> f.clustered(ClusterCorrection.none(), many, NINE))
              .isInstanceOf(DimensionMismatchException.class)
              .hasMessageContaining("more cluster keys than rows");
          var gaps = new ArrayList<Integer>(Collections.nCopies(30, 1));
          gaps.set(17, null);
          assertThatThrownBy(() -> f.clustered(ClusterCorrection.none(), keys(gaps), NINE))
              .hasMessageContaining("a cluster key is null");
          assertThatThrownBy(
                  () -> f.clustered(ClusterCorrection.none(), keys(gaps).coalesce(1), NINE))
              .isInstanceOf(DimensionMismatchException.class)
              .hasMessageContaining("cluster keys come in 1 partitions, the rows in 3");
          return null;
        });
  }
}
