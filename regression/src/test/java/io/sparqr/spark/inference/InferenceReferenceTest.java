/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.inference;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.backend.BackendChoice;
import io.sparqr.numeric.Tolerances;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.spark.GpuSparseQR;
import io.sparqr.spark.LocalSpark;
import io.sparqr.spark.QRFactorization;
import io.sparqr.spark.model.SparseRow;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaRDD;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Values of R 4.2's stats and sandwich 3.0 and of statsmodels 0.13, made by src/test/r/inference.R
 * and src/test/python/inference.py.
 */
@Tag("numbers")
class InferenceReferenceTest {

  /**
   * Relative, or in units of the matrix's scale; the reference programs agree with each other to
   * this accuracy.
   */
  private static final double CLOSE = Tolerances.ILL_CONDITIONED;

  private static final int[] ALL = IntStream.range(0, 10).toArray();
  private static final List<String[]> DATA = lines("data.csv");
  private static final Map<String, double[][]> R = values("r.csv");
  private static final Map<String, double[][]> STATSMODELS = values("statsmodels.csv");

  private static List<String[]> lines(String file) {
    try (var in = InferenceReferenceTest.class.getResourceAsStream("/inference/" + file)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8)
          .lines()
          .filter(l -> !l.startsWith("#") && !l.startsWith("\""))
          .map(l -> l.split(","))
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Map<String, double[][]> values(String file) {
    var all = new TreeMap<String, double[][]>();
    for (String[] l : lines(file)) {
      int i = Integer.parseInt(l[1]);
      int j = Integer.parseInt(l[2]);
      double[][] m = all.getOrDefault(l[0], new double[0][]);
      m = i < m.length ? m : Arrays.copyOf(m, i + 1);
      m[i] = m[i] == null ? new double[j + 1] : j < m[i].length ? m[i] : Arrays.copyOf(m[i], j + 1);
      m[i][j] = Double.parseDouble(l[3]);
      all.put(l[0], m);
    }
    return all;
  }

  private static SparseRow row(String[] data, double[] x, boolean weighted) {
    double[] dense = new double[10];
    System.arraycopy(x, 0, dense, 0, 3);
    int g = Integer.parseInt(data[2]);
    if (g > 1) {
      dense[g + 1] = 1;
    }
    double weight = weighted ? Double.parseDouble(data[5]) : 1;
    return DenseFit.row(dense, Double.parseDouble(data[6]), weight);
  }

  private static JavaRDD<SparseRow> rows(boolean weighted) {
    var rows = new ArrayList<SparseRow>();
    for (String[] d : DATA) {
      rows.add(
          row(d, new double[] {1, Double.parseDouble(d[0]), Double.parseDouble(d[1])}, weighted));
    }
    return LocalSpark.context().parallelize(rows, 4);
  }

  private static JavaRDD<Integer> keys(int column) {
    return LocalSpark.context()
        .parallelize(DATA.stream().map(d -> Integer.valueOf(d[column])).toList(), 4);
  }

  private static QRFactorization factorize(JavaRDD<SparseRow> rows) {
    return GpuSparseQR.builder()
        .backend(BackendChoice.CPU)
        .executors(2)
        .partitionOptions(new PartitionOptions(2, 2, 2, 0))
        .factorize(rows);
  }

  private static void check(String what, double[][] found, double[][] expected) {
    assertThat(found.length).as(what).isEqualTo(expected.length);
    boolean square = expected.length == expected[0].length;
    for (int i = 0; i < expected.length; i++) {
      assertThat(found[i].length).as(what).isEqualTo(expected[i].length);
      for (int j = 0; j < expected[i].length; j++) {
        double size =
            square
                ? Math.sqrt(Math.abs(expected[i][i] * expected[j][j]))
                : Math.abs(expected[i][j]);
        assertThat(found[i][j])
            .as("%s, %d, %d", what, i, j)
            .isCloseTo(expected[i][j], within(CLOSE * size + Tolerances.roundings(4, 1)));
      }
    }
  }

  private static double[][] column(double[] v) {
    return Arrays.stream(v).mapToObj(e -> new double[] {e}).toArray(double[][]::new);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void theTableAndItsTestsAreR(boolean weighted) {
    String p = weighted ? "weighted." : "";
    JavaRDD<SparseRow> rows = rows(weighted);
    JavaRDD<SparseRow> less =
        rows.map(
            r -> {
              double[] dense = new double[3];
              for (int k = 0; k < 3; k++) {
                dense[k] = r.values()[k];
              }
              return DenseFit.row(dense, r.labels()[0], r.weight());
            });
    try (QRFactorization f = factorize(rows);
        QRFactorization g = factorize(less)) {
      Inference found = Inference.of(f, rows);
      check("coef", column(found.coefficients()), R.get(p + "coef"));
      check("vcov", found.covariance(ALL), R.get(p + "vcov"));
      double[][] table =
          found.contrasts(Batches.units(ALL)).stream()
              .map(t -> new double[] {t.estimate(), t.standardError(), t.tValue(), t.pValue()})
              .toArray(double[][]::new);
      check("table", table, R.get(p + "table"));
      check("confint", found.confidenceIntervals(0.99, ALL), R.get(p + "confint"));
      double logs =
          weighted ? DATA.stream().mapToDouble(d -> Math.log(Double.parseDouble(d[5]))).sum() : 0;
      check("logLik", column(new double[] {found.logLikelihood(logs)}), R.get(p + "logLik"));
      check("AIC", column(new double[] {found.aic(logs)}), R.get(p + "aic"));
      check("BIC", column(new double[] {found.bic(logs)}), R.get(p + "bic"));
      Anova a = Anova.of(Inference.of(g, less), found);
      double[] anova = {
        a.f(),
        a.pValue(),
        a.smallerResidual(),
        a.largerResidual(),
        a.smallerFreedom(),
        a.largerFreedom()
      };
      check("anova", column(anova), R.get(p + "anova"));
      List<SparseRow> fresh =
          List.of(
              new SparseRow(new int[] {0, 2}, new double[] {1, 1950}, 0, 2),
              new SparseRow(new int[] {0, 1, 2, 6}, new double[] {1, 1.5, 2050, 1}, 0, 2));
      double[][] fits = new double[2][];
      double[][] observations = new double[2][];
      for (int i = 0; i < 2; i++) {
        Prediction q = found.predict(fresh).get(i);
        double[] mean = q.confidenceInterval(0.9);
        double[] one = q.predictionInterval(0.9);
        fits[i] = new double[] {q.fit(), mean[0], mean[1], q.standardError()};
        observations[i] = new double[] {q.fit(), one[0], one[1]};
      }
      check("predict", fits, R.get(p + "predict"));
      check("interval", observations, R.get(p + "interval"));
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void influenceIsR(boolean weighted) {
    String p = weighted ? "weighted." : "";
    JavaRDD<SparseRow> rows = rows(weighted);
    try (QRFactorization f = factorize(rows)) {
      Inference found = Inference.of(f, rows);
      List<Influence> all = found.influence().collect();
      var by =
          Map.<String, java.util.function.ToDoubleFunction<Influence>>of(
              "hat", Influence::leverage,
              "rstandard", Influence::standardized,
              "rstudent", Influence::studentized,
              "cook", Influence::cooksDistance);
      by.forEach(
          (name, of) -> {
            double[][] v = column(all.stream().mapToDouble(of).toArray());
            check(name, v, R.get(p + name));
            if (STATSMODELS.containsKey(p + name)) {
              check(name, v, STATSMODELS.get(p + name));
            }
          });
      check("press", column(new double[] {found.press()}), R.get(p + "press"));
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void robustCovariancesAreSandwichAndStatsmodels(boolean weighted) {
    String p = weighted ? "weighted." : "";
    JavaRDD<SparseRow> rows = rows(weighted);
    try (QRFactorization f = factorize(rows)) {
      Inference found = Inference.of(f, rows);
      for (HcType type : HcType.values()) {
        RobustCovariance v = found.robust(type, ALL);
        assertThat(v.estimator()).isEqualTo(type.name());
        check(type.name(), v.covariance(), R.get(p + type));
        check(type.name(), v.covariance(), STATSMODELS.get(p + type));
      }
      JavaRDD<Integer> first = keys(3);
      JavaRDD<Integer> second = keys(4);
      RobustCovariance one = found.clustered(ClusterCorrection.sandwich(), first, ALL);
      check("CL", one.covariance(), R.get(p + "CL"));
      check("CL", one.covariance(), STATSMODELS.get(p + "cluster"));
      assertThat(one.clusters()).containsExactly(15);
      assertThat(one.estimator()).isEqualTo("clustered, sandwich, type HC1, cadjust");
      WaldTest wald = one.waldTest(Batches.units(Arrays.copyOfRange(ALL, 3, 10)));
      check("wald", column(new double[] {wald.f(), wald.pValue()}), R.get(p + "wald.CL"));
      clustered(found, ClusterCorrection.sandwichHc0(), first, null, R.get(p + "CL.HC0"));
      clustered(found, ClusterCorrection.none(), first, null, R.get(p + "CL.none"));
      clustered(found, ClusterCorrection.none(), first, null, STATSMODELS.get(p + "cluster.none"));
      clustered(found, ClusterCorrection.sandwich(), first, second, R.get(p + "CL2"));
      clustered(
          found, ClusterCorrection.sandwich(), first, second, STATSMODELS.get(p + "cluster2"));
      clustered(found, ClusterCorrection.sandwichHc0(), first, second, R.get(p + "CL2.HC0"));
      clustered(found, ClusterCorrection.none(), first, second, R.get(p + "CL2.none"));
    }
  }

  private static void clustered(
      Inference found,
      ClusterCorrection correction,
      JavaRDD<Integer> first,
      JavaRDD<Integer> second,
      double[][] expected) {
    RobustCovariance v =
        second == null
            ? found.clustered(correction, first, ALL)
            : found.clustered(correction, first, second, ALL);
    check(v.estimator(), v.covariance(), expected);
    double[] errors = v.standardErrors();
    for (int k = 0; k < errors.length; k++) {
      double variance = expected[k][k];
      if (variance > 0) {
        assertThat(errors[k]).isCloseTo(Math.sqrt(variance), within(CLOSE * errors[k]));
      } else {
        assertThat(errors[k]).isNaN();
      }
    }
  }
}
