/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.ml;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.SampledCases;
import io.sparqr.numeric.Tolerances;
import io.sparqr.spark.LocalSpark;
import io.sparqr.spark.report.ProgressListener;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Printouts and numbers as R's summary(lm) has them: src/test/r/summary.R. */
@Tag("once")
class RSummaryTest {

  /**
   * A case of the script.
   *
   * @param numbers sigma, df, r2, adjusted r2, F with its degrees and p, logLik, AIC, BIC
   */
  record Case(String formula, String weights, double[] numbers, String text) {
    @Override
    public String toString() {
      return formula + (weights.isEmpty() ? "" : ", weights " + weights);
    }
  }

  private static Dataset<Row> data;

  private static Path resource(String name) {
    try {
      return Path.of(RSummaryTest.class.getResource("/r/" + name).toURI());
    } catch (URISyntaxException e) {
      throw new AssertionError(e);
    }
  }

  private static synchronized Dataset<Row> data() {
    if (data == null) {
      Dataset<Row> file =
          LocalSpark.session()
              .read()
              .option("header", true)
              .option("inferSchema", true)
              .csv(resource("summary.csv").toString());
      List<Row> rows = file.collectAsList();
      data = LocalSpark.session().createDataFrame(rows, file.schema()).coalesce(2);
    }
    return data;
  }

  static Stream<Case> cases() throws IOException {
    var all = new ArrayList<Case>();
    List<String> lines = Files.readAllLines(resource("summary.txt"));
    int at = 0;
    while (at < lines.size()) {
      String[] head = lines.get(at++).substring("case ".length()).split("\\|");
      double[] numbers =
          Arrays.stream(lines.get(at++).trim().split(" "))
              .mapToDouble(s -> s.equals("NA") ? Double.NaN : Double.parseDouble(s))
              .toArray();
      var text = new ArrayList<String>();
      while (at < lines.size() && !lines.get(at).startsWith("case ")) {
        text.add(lines.get(at++).stripTrailing());
      }
      all.add(
          new Case(
              head[0].trim(), head[1].trim(), numbers, String.join("\n", text).stripTrailing()));
    }
    return all.stream();
  }

  private static SparseQRRegressionSummary fit(Case c) {
    return new SparseQRRegression()
        .setFormula(c.formula())
        .setWeightCol(c.weights())
        .fit(data())
        .summary();
  }

  private static String fromResiduals(String text) {
    String all = text.lines().map(String::stripTrailing).collect(Collectors.joining("\n"));
    int from = all.indexOf("Residuals:");
    int weighted = all.indexOf("Weighted Residuals:");
    return all.substring(weighted >= 0 ? weighted : from).stripTrailing();
  }

  @SampledCases(oneIn = 5)
  @ParameterizedTest
  @MethodSource("cases")
  void isThatOfR(Case r) {
    var s = fit(r);
    assertNumbers(r, s);
    String ours = fromResiduals(s.toString());
    String theirs = r.text();
    if (r.weights().equals("w0")) {
      // R's quartiles count the zeros of rows without weight, which are no instances here
      ours = ours.substring(ours.indexOf("Coefficients:"));
      theirs = theirs.substring(theirs.indexOf("Coefficients:"));
    }
    assertThat(ours).as(r.toString()).startsWith(theirs);
    assertThat(ours.substring(theirs.length()).strip().lines())
        .as("what R does not print of %s", r)
        .allMatch(line -> line.matches("Observations: [0-9]+|Warning: .*"))
        .anyMatch(line -> line.startsWith("Observations: " + s.numInstances()));
  }

  private static void assertNumbers(Case r, SparseQRRegressionSummary s) {
    double[] ours = {
      s.sigma(),
      s.degreesOfFreedom(),
      s.r2(),
      s.r2adj(),
      s.fStatistic(),
      Double.isNaN(s.fStatistic()) ? Double.NaN : s.modelDegreesOfFreedom(),
      Double.isNaN(s.fStatistic()) ? Double.NaN : s.degreesOfFreedom(),
      s.fPValue(),
      s.logLikelihood(),
      s.aic(),
      s.bic()
    };
    assertThat(r.numbers()).hasSameSizeAs(ours);
    for (int k = 0; k < ours.length; k++) {
      double wanted = r.numbers()[k];
      if (Double.isNaN(wanted)) {
        assertThat(ours[k]).as("%s, number %d", r, k).isNaN();
        continue;
      }
      // F and its p are functions of 1 - r2, which is small where the fit is good
      double relative = (k == 7 ? 1000 : 1) * Tolerances.ILL_CONDITIONED;
      double close = relative * Math.abs(wanted) + Tolerances.REORDERED;
      assertThat(Math.abs(ours[k] - wanted))
          .as("%s, number %d: %s and %s", r, k, ours[k], wanted)
          .isLessThanOrEqualTo(
              wanted != 0 && Math.abs(wanted) < 10 * Tolerances.REORDERED
                  ? relative * wanted
                  : close);
    }
  }

  @Test
  void asManyCasesAsTheScriptHas() throws IOException {
    assertThat(cases().count()).isEqualTo(20);
  }

  @Test
  void theTableIsADataFrame() {
    var s = new SparseQRRegression().setFormula("y ~ x + x2 + z").fit(data()).summary();
    Dataset<Row> table = s.toDataFrame();
    assertThat(table.columns())
        .containsExactly("term", "estimate", "std_error", "t_value", "p_value");
    List<Row> rows = table.collectAsList();
    assertThat(rows).extracting(r -> r.getString(0)).containsExactly("(Intercept)", "x", "x2", "z");
    assertThat(rows.get(0).getDouble(1)).isCloseTo(intercept(s), within(Tolerances.REORDERED));
    int dead = 1 + s.deadColumns()[0];
    for (int c = 1; c < 5; c++) {
      assertThat(rows.get(dead).isNullAt(c)).isTrue();
      assertThat(rows.get(3).isNullAt(c)).isFalse();
    }
    assertThat(rows.get(3).getDouble(4)).isEqualTo(s.pValues()[2]);
  }

  private static double intercept(SparseQRRegressionSummary s) {
    double[] t = s.tValues();
    return t[t.length - 1] * s.coefficientStandardErrors()[t.length - 1];
  }

  @Test
  void quartilesOfManyRowsAreThoseOfAll() {
    var estimator = new SparseQRRegression().setFormula("y ~ x * g").setWeightCol("w");
    var s = estimator.fit(data());
    var source = new Training(data(), estimator, ProgressListener.NONE, s.design());
    DesignFit fit = DesignFit.of(source, null);
    double[] all = s.summary().residualQuartiles();
    for (long collected : new long[] {1, 2, 7, 40}) {
      double[] found =
          ResidualQuartiles.of(
              source.rows(false).rdd(), fit.x(), fit.rows(), fit.instances(), collected);
      assertThat(found).as("%d at once", collected).containsExactly(all);
    }
  }

  @Test
  void nothingIsAHash() {
    var model = new SparseQRRegression().setFormula("y ~ x | g").fit(data());
    assertThat(model.toString() + model.summary() + model.design())
        .doesNotContainPattern("@[0-9a-f]{4}");
    assertThat(model.summary().toString())
        .contains("Call:\nSparseQRRegression(formula = y ~ x | g)\n")
        .doesNotContain("gp");
    String many =
        new SparseQRRegression().setFormula("y ~ factor(z) + x:g").fit(data()).summary().toString();
    assertThat(many.lines().count()).isLessThan(130);
  }
}
