/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.ml;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.SampledCases;
import io.sparqr.error.MatrixFormatException;
import io.sparqr.numeric.Tolerances;
import io.sparqr.spark.LocalSpark;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.commons.math3.linear.Array2DRowRealMatrix;
import org.apache.commons.math3.linear.EigenDecomposition;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.functions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Robust and clustered errors of a fit: those of R's sandwich ({@code src/test/r/inference.R}). */
@Tag("numbers")
class RobustRegressionTest {

  /** The terms in R's order. */
  private static final List<String> TERMS =
      List.of(
          "(Intercept)",
          "x1",
          "x2",
          "factor(g)2",
          "factor(g)3",
          "factor(g)4",
          "factor(g)5",
          "factor(g)6",
          "factor(g)7",
          "factor(g)8");

  private static Path resource(String name) {
    return Path.of(System.getProperty("basedir", "."), "src/test/resources/inference", name);
  }

  private static Dataset<Row> data() {
    return LocalSpark.session()
        .read()
        .option("header", true)
        .option("inferSchema", true)
        .csv(resource("data.csv").toString())
        .withColumn("firm", functions.concat(functions.lit("firm "), functions.col("first")))
        .repartition(3);
  }

  /** Diagonals of R's covariances by name; those with a negative variance repaired. */
  private static Map<String, double[]> diagonals() {
    Map<String, double[][]> all = new HashMap<>();
    try {
      for (String line :
          java.nio.file.Files.readAllLines(resource("r.csv"), StandardCharsets.UTF_8)) {
        String[] f = line.split(",");
        boolean number = f.length == 4 && f[1].matches("[0-9]+") && f[2].matches("[0-9]+");
        int n = TERMS.size();
        if (number && Integer.parseInt(f[1]) < n && Integer.parseInt(f[2]) < n) {
          double[][] v = all.computeIfAbsent(f[0], k -> new double[n][n]);
          v[Integer.parseInt(f[1])][Integer.parseInt(f[2])] = Double.parseDouble(f[3]);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Map<String, double[]> diagonals = new HashMap<>();
    all.forEach((name, v) -> diagonals.put(name, diagonal(v)));
    return diagonals;
  }

  private static double[] diagonal(double[][] v) {
    double[] diagonal = new double[v.length];
    Arrays.setAll(diagonal, j -> v[j][j]);
    if (Arrays.stream(diagonal).noneMatch(d -> d < 0)) {
      return diagonal;
    }
    for (int i = 0; i < v.length; i++) {
      for (int j = 0; j < i; j++) {
        // R's two triangles differ in the last bits.
        v[j][i] = v[i][j];
      }
    }
    var eigen = new EigenDecomposition(new Array2DRowRealMatrix(v));
    Arrays.fill(diagonal, 0);
    for (int e = 0; e < v.length; e++) {
      double[] u = eigen.getEigenvector(e).toArray();
      double value = Math.max(0, eigen.getRealEigenvalue(e));
      Arrays.setAll(diagonal, j -> diagonal[j] + value * u[j] * u[j]);
    }
    return diagonal;
  }

  private static SparseQRRegression lm(String formula, boolean weighted) {
    var lm = new SparseQRRegression().setFormula(formula).setClusterCorrection("sandwich");
    return weighted ? lm.setWeightCol("w") : lm;
  }

  private static Map<String, Double> errors(SparseQRRegressionSummary s) {
    Map<String, Double> errors = new HashMap<>();
    double[] e = s.coefficientStandardErrors();
    for (int j = 0; j < e.length; j++) {
      errors.put(s.coefficientNames().get(j), e[j]);
    }
    return errors;
  }

  @SampledCases(oneIn = 4)
  @ParameterizedTest
  @CsvSource({
    "HC0,,HC0",
    "HC1,,HC1",
    "HC2,,HC2",
    "HC3,,HC3",
    "iid,,vcov",
    "cluster,firm,CL",
    "cluster,first,CL",
    "cluster,'firm,second',CL2"
  })
  void areThoseOfR(String vcov, String clusters, String name) {
    for (boolean weighted : new boolean[] {false, true}) {
      double[] variance = diagonals().get((weighted ? "weighted." : "") + name);
      SparseQRRegression lm = lm("y ~ x1 + x2 + factor(g)", weighted);
      if (clusters == null) {
        lm.setVcov(vcov);
      } else {
        lm.setClusterCols(clusters.split(","));
      }
      SparseQRRegressionSummary s = lm.fit(data()).summary();
      Map<String, Double> found = errors(s);
      for (int j = 0; j < TERMS.size(); j++) {
        double expected = Math.sqrt(variance[j]);
        assertThat(found.get(TERMS.get(j)))
            .as("%s of %s, weighted %s", name, TERMS.get(j), weighted)
            .isCloseTo(expected, within(Tolerances.ILL_CONDITIONED * expected));
      }
      String assumed = s.standardErrorsAssume();
      assertThat(s.toString().contains("Standard errors: " + assumed + "\n"))
          .isEqualTo(!assumed.isEmpty());
      assertThat(assumed).startsWith(clusters == null ? vcov.replace("iid", "") : "clustered by");
    }
  }

  /** A weighted fit; clusters: null for none. */
  private static SparseQRRegressionSummary robust(String formula, String vcov, String clusters) {
    SparseQRRegression lm = lm(formula, true).setVcov(vcov);
    if (clusters != null) {
      lm.setClusterCols(clusters.split(","));
    }
    return lm.fit(data()).summary();
  }

  /** Absorbed effects and their dummies: the same coefficients and errors of the rest. */
  @SampledCases(oneIn = 5)
  @ParameterizedTest
  @CsvSource({"iid,", "HC1,", "HC3,", "cluster,firm", "cluster,'second,g'"})
  void absorbedIsDummies(String vcov, String clusters) {
    SparseQRRegressionSummary a =
        robust("y ~ x1 + x2 + factor(g) + factor(second)", vcov, clusters);
    SparseQRRegressionSummary b = robust("y ~ x1 + x2 | g + second", vcov, clusters);
    Map<String, Row> table = new HashMap<>();
    a.toDataFrame().collectAsList().forEach(r -> table.put(r.getString(0), r));
    List<Row> rows = b.toDataFrame().collectAsList();
    assertThat(rows).hasSize(2);
    for (Row r : rows) {
      // A repair of negative variances is of the coefficients in the table: with dummies, of
      // others.
      boolean repaired = a.report().warnings().toString().contains("negative");
      for (int k = 1; k < (repaired ? 2 : 5); k++) {
        double expected = table.get(r.getString(0)).getDouble(k);
        assertThat(r.getDouble(k))
            .as("%s, field %d", r.getString(0), k)
            .isCloseTo(
                expected,
                within(
                    Tolerances.ILL_CONDITIONED * Math.abs(expected) + Tolerances.roundings(4, 1)));
      }
    }
    assertThat(b.degreesOfFreedom()).isEqualTo(a.degreesOfFreedom());
    assertThat(b.standardErrorsAssume()).isEqualTo(a.standardErrorsAssume());
  }

  /**
   * No coefficients besides the effects: a table without rows, and the same fit as with dummies.
   */
  @SampledCases(oneIn = 5)
  @ParameterizedTest
  @CsvSource({"iid,", "HC1,", "HC3,", "cluster,firm", "cluster,'second,g'"})
  void absorbedAloneHaveATableWithoutRows(String vcov, String clusters) {
    SparseQRRegressionSummary a = robust("y ~ factor(g) + factor(second)", vcov, clusters);
    SparseQRRegressionSummary b = robust("y ~ 1 | g + second", vcov, clusters);
    assertThat(b.toDataFrame().collectAsList()).isEmpty();
    assertThat(b.hasCoefficientCovariance()).isTrue();
    assertThat(b.coefficientCovariance()).isEmpty();
    assertThat(b.standardErrorsAssume()).isEqualTo(a.standardErrorsAssume());
    assertThat(b.testDegreesOfFreedom()).isEqualTo(a.testDegreesOfFreedom());
    assertThat(b.r2Within()).isZero();
    assertThat(b.sigma()).isCloseTo(a.sigma(), within(Tolerances.REORDERED * a.sigma()));
  }

  /**
   * Absorbed effects nested in clusters are not counted: pyfixest's values (test/python/fixest.py).
   */
  @SampledCases(oneIn = 3)
  @ParameterizedTest
  @CsvSource({
    "nested,y ~ x1 + x2 | first,group",
    "itself,y ~ x1 + x2 | first,first",
    "oneOfTwo,y ~ x1 + x2 | first + second,group",
    "none,y ~ x1 + x2 | second,group",
    "twoWays,y ~ x1 + x2 | first + second,'group,g'",
    "plain,y ~ x1 + x2,group"
  })
  void correctedAsFixestDoes(String name, String formula, String clusters) throws IOException {
    Dataset<Row> data = data().withColumn("group", functions.expr("first % 5"));
    SparseQRRegressionSummary s =
        lm(formula, true)
            .setClusterCols(clusters.split(","))
            .setClusterCorrection("fixest")
            .fit(data)
            .summary();
    Map<String, Row> table = new HashMap<>();
    s.toDataFrame().collectAsList().forEach(r -> table.put(r.getString(0), r));
    int compared = 0;
    for (String line :
        java.nio.file.Files.readAllLines(resource("pyfixest.csv"), StandardCharsets.UTF_8)) {
      String[] f = line.split(",");
      if (f[0].equals(name)) {
        Row r = table.get(f[1]);
        for (int k = 2; k < 5; k++) {
          double expected = Double.parseDouble(f[k]);
          double found = r.getDouble(k == 4 ? 4 : k - 1);
          // It finds the effects by iteration.
          assertThat(found)
              .as("%s, %s, field %d", name, f[1], k)
              .isCloseTo(expected, within(Tolerances.ITERATED * Math.abs(expected)));
        }
        compared++;
      }
    }
    assertThat(compared).isEqualTo(2);
  }

  /** Covariances come with errors; what x1 and x2 explain beside effects is found without a fit. */
  @ParameterizedTest
  @CsvSource({"iid", "HC1"})
  void covariancesAndTheShareWithinEffects(String vcov) {
    Dataset<Row> data = data();
    SparseQRRegression lm = lm("y ~ x1 + x2 | C(first) + second", true).setVcov(vcov);
    SparseQRRegressionSummary s = lm.fit(data).summary();
    double[][] v = s.coefficientCovariance();
    assertThat(v).hasDimensions(2, 2);
    for (int j = 0; j < 2; j++) {
      double e = s.coefficientStandardErrors()[j];
      assertThat(v[j][j]).isCloseTo(e * e, within(Tolerances.REORDERED * e * e));
    }
    assertThat(v[0][1]).isEqualTo(v[1][0]);
    try (KeptRegression kept =
        lm("y ~ x1 + x2 + factor(first) + factor(second)", true).fitKept(data)) {
      double expected =
          vcov.equals("iid")
              ? kept.inference().covariance(0, 1)[0][1]
              : kept.inference()
                  .robust(io.sparqr.spark.inference.HcType.HC1, 0, 1)
                  .covariance()[0][1];
      assertThat(v[0][1])
          .isCloseTo(expected, within(Tolerances.ILL_CONDITIONED * Math.abs(expected)));
      assertThat(kept.model().summary().r2Within()).isNaN();
    }
    SparseQRRegressionSummary effects =
        lm("y ~ factor(first) + factor(second)", true).fit(data).summary();
    double rss = s.sigma() * s.sigma() * s.degreesOfFreedom();
    double without = effects.sigma() * effects.sigma() * effects.degreesOfFreedom();
    assertThat(s.r2Within()).isCloseTo(1 - rss / without, within(Tolerances.SOLUTION));
    assertThat(s.criticalValue(0.95))
        .isCloseTo(
            new org.apache.commons.math3.distribution.TDistribution(
                    null, s.degreesOfFreedom(), 1e-15)
                .inverseCumulativeProbability(0.975),
            within(Tolerances.REORDERED));
  }

  /** Combinations of factors that are nested in clusters count by the levels that rows have. */
  @Test
  void combinationsAreNestedToo() {
    Dataset<Row> data = data().withColumn("match", functions.expr("concat(first, ' ', second)"));
    double[] errors = null;
    for (String effects : List.of("first^second", "first:second", "match")) {
      SparseQRRegressionSummary s =
          lm("y ~ x1 + x2 | " + effects, true)
              .setClusterCols("first")
              .setClusterCorrection("fixest")
              .fit(data)
              .summary();
      double[] found = Arrays.copyOf(s.coefficientStandardErrors(), 2);
      errors = errors == null ? found : errors;
      assertThat(found).as(effects).containsExactly(errors, within(Tolerances.RANDOM));
      assertThat(s.standardErrorsAssume()).endsWith("k = 3");
    }
  }

  @Test
  void rowsWithoutAClusterAreRefusedOrLeftOut() {
    Dataset<Row> gaps =
        data()
            .withColumn(
                "firm", functions.when(functions.col("first").notEqual(7), functions.col("firm")));
    SparseQRRegression lm = lm("y ~ x1 + x2", false).setClusterCols("firm");
    assertThatThrownBy(() -> lm.fit(gaps))
        .isInstanceOf(MatrixFormatException.class)
        .hasMessageContaining("no value in cluster column firm")
        .hasMessageContaining("x1 = ");
    SparseQRRegressionSummary skipped = lm.setHandleInvalid("skip").fit(gaps).summary();
    SparseQRRegressionSummary without =
        lm.fit(gaps.where(functions.col("firm").isNotNull())).summary();
    assertThat(skipped.numInstances()).isEqualTo(without.numInstances()).isLessThan(120);
    for (int j = 0; j < 3; j++) {
      double e = without.coefficientStandardErrors()[j];
      assertThat(skipped.coefficientStandardErrors()[j])
          .isCloseTo(e, within(Tolerances.RANDOM * e));
    }
  }

  @Test
  void whatDoesNotGoTogetherIsRefused() {
    Dataset<Row> data = data();
    assertThatThrownBy(() -> lm("y ~ x1", false).setVcov("cluster").fit(data))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("vcov cluster with 0 cluster columns (clusterCols)");
    assertThatThrownBy(() -> lm("y ~ x1", false).setVcov("HC1").setClusterCols("firm").fit(data))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("vcov HC1 with 1 cluster columns (clusterCols)");
    assertThatThrownBy(() -> lm("y ~ x1", false).setClusterCols("firm", "second", "g").fit(data))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("clusterCols: one or two columns, not 3");
    assertThatThrownBy(() -> lm("y ~ x1", false).setVcov("HC3").setRegParam(1).fit(data))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("a penalized estimate is biased");
    assertThatThrownBy(() -> new SparseQRRegression().setVcov("HC4"))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
