/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.numeric.Tolerances;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Regressions whose tables once misled, by the command line. The values are those of R 4.2 (lm with
 * the effects before the regressors, sandwich) and pyfixest 0.60.
 */
class RegressCasesTest {

  /** Half a unit of the sixth decimal, to which the values are known. */
  private static final double LAST = Tolerances.decimals(6);

  @TempDir Path folder;

  @BeforeAll
  static void start() {
    CliRun.session();
  }

  /** The run, its table written to a file. */
  private CliRun run(String data, String formula, Object... options) throws Exception {
    Path file = Path.of(RegressCasesTest.class.getResource("/regression/" + data + ".csv").toURI());
    Object[] all = new Object[options.length + 7];
    all[0] = "regress";
    all[1] = file;
    all[2] = "--formula";
    all[3] = formula;
    all[4] = "--out";
    all[5] = folder.resolve("table.csv");
    all[6] = "--overwrite";
    System.arraycopy(options, 0, all, 7, options.length);
    return CliRun.of(all);
  }

  private CliRun fitted(String data, String formula, Object... options) throws Exception {
    CliRun run = run(data, formula, options);
    assertThat(run.code()).as(run.err()).isZero();
    return run;
  }

  /** Estimate, error, t and p by term, NaN for NA. */
  private Map<String, double[]> table() throws IOException {
    var table = new LinkedHashMap<String, double[]>();
    for (String line : Files.readAllLines(folder.resolve("table.csv")).subList(1, lines())) {
      String[] f = line.split(",");
      double[] values = new double[4];
      for (int k = 0; k < 4; k++) {
        values[k] = f[k + 1].equals("NA") ? Double.NaN : Double.parseDouble(f[k + 1]);
      }
      table.put(f[0], values);
    }
    return table;
  }

  private int lines() throws IOException {
    return Files.readAllLines(folder.resolve("table.csv")).size();
  }

  private void assertTerm(String term, double estimate, double error) throws IOException {
    double[] row = table().get(term);
    assertThat(row).as(table().keySet() + " have " + term).isNotNull();
    assertThat(row[0]).as(term).isCloseTo(estimate, within(LAST));
    assertThat(row[1]).as("error of " + term).isCloseTo(error, within(LAST));
  }

  private void assertUndefined(String... terms) throws IOException {
    for (String term : terms) {
      assertThat(table().get(term)).as(term).containsOnly(Double.NaN);
    }
  }

  /** Whatever the effects' order and their levels' names. */
  @ParameterizedTest
  @CsvSource({"id + date", "date + id", "date + C(id)"})
  void whatEffectsSpanIsNotDefined(String effects) throws Exception {
    fitted("24_third", "y ~ edu + ret | " + effects);
    assertUndefined("edu");
    assertTerm("ret", -0.135335, 0.119208);
  }

  @Test
  void mainEffectsThatAreAbsorbedAreNotDefined() throws Exception {
    CliRun run =
        fitted(
            "24_third",
            "y ~ treat*post | id + date",
            "--cluster",
            "id",
            "--cluster-correction",
            "fixest");
    assertUndefined("treat", "post");
    assertTerm("treat:post", 0.441204, 0.370409);
    assertThat(run.out())
        .contains("2 not defined")
        .contains("Absorbed effects: id (15 levels), date (6 levels)")
        .contains("Within R-squared: 0.01709");
  }

  @Test
  void anEventStudyHasNoCoefficientOfItsReference() throws Exception {
    fitted(
        "23_trend",
        "y ~ x + treat:C(year) | firm + year",
        "--reference-levels",
        "year=2017",
        "--cluster",
        "firm");
    assertUndefined("treat:factor(year)2017");
    double[][] right = {{2015, -0.171, 0.731}, {2016, 0.602, 0.620}, {2018, 1.369, 0.559}};
    for (double[] year : right) {
      double[] row = table().get("treat:factor(year)" + (int) year[0]);
      assertThat(row[0]).isCloseTo(year[1], within(Tolerances.decimals(3)));
      assertThat(row[1]).isCloseTo(year[2], within(Tolerances.decimals(3)));
    }
    assertThat(table().get("treat:factor(year)2019")[0])
        .isCloseTo(1.921, within(Tolerances.decimals(3)));
  }

  @Test
  void aNumberThatIsAlsoAbsorbedStaysANumberAmongTheTerms() throws Exception {
    fitted("23_trend", "y ~ x + treat:year | firm + year");
    assertThat(table()).hasSize(2);
    assertTerm("x", 0.999417, 0.109812);
    assertTerm("treat:year", 0.496798, 0.132446);
  }

  @Test
  void aRegressorThatIsAbsorbedHasNoEstimate() throws Exception {
    fitted("28_bool", "x ~ flag01 | flag01");
    assertUndefined("flag01");
  }

  @Test
  void nestedEffectsCountOnceTogether() throws Exception {
    CliRun run = fitted("01_nested", "y ~ x + z | hh + community", "--cluster", "municipality");
    assertTerm("x", 0.400198, 0.074988);
    assertTerm("z", -0.401185, 0.072777);
    assertThat(run.out()).contains("k = 3");
  }

  @Test
  void oneClusterIsAnErrorAndTwoAreFew() throws Exception {
    for (String correction : new String[] {"fixest", "sandwich", "none"}) {
      CliRun one = run("04_few", "y ~ x", "--cluster", "one", "--cluster-correction", correction);
      assertThat(one.code()).isNotZero();
      assertThat(one.errors())
          .containsExactly("sparqr: 1 cluster: clustered errors need at least two");
      CliRun ways =
          run("04_few", "y ~ x", "--cluster", "two,one", "--cluster-correction", correction);
      assertThat(ways.errors()).hasSize(1);
    }
    fitted("04_few", "y ~ x", "--cluster", "two");
    assertTerm("x", 2.058997, 0.020236);
    assertThat(table().get("x")[3]).isCloseTo(0.006257, within(LAST));
  }

  @Test
  void aClusterThatIsMissingDecidesTheReference() throws Exception {
    CliRun run =
        fitted("03_lost_level", "y ~ x + g", "--cluster", "cl", "--handle-invalid", "skip");
    assertThat(table().keySet()).containsExactly("(Intercept)", "x", "ggamma", "gzeta");
    assertThat(table().get("x")[0]).isCloseTo(0.83155, within(Tolerances.decimals(5)));
    assertThat(table().get("ggamma")[0]).isCloseTo(0.89375, within(Tolerances.decimals(5)));
    assertThat(table().get("gzeta")[0]).isCloseTo(2.06636, within(Tolerances.decimals(5)));
    assertThat(run.out()).contains("Observations: 34 (6 rows left out for want of cl (6))");
  }

  @Test
  void aNegativeVarianceIsRepairedAndSaid() throws Exception {
    CliRun run =
        fitted("05_nonpsd", "y ~ x", "--cluster", "a,b", "--cluster-correction", "sandwich");
    assertThat(table().get("x")[1]).isCloseTo(0.035979, within(LAST));
    assertThat(run.out()).contains("Warning: a variance of the two-way clustered errors came out");
  }

  @Test
  void fIsWaldsOfTheErrorsInTheTable() throws Exception {
    CliRun run = fitted("12_weights", "y ~ x + z", "--cluster", "g");
    assertThat(run.out())
        .contains("F-statistic: 128.7 on 2 and 2 DF")
        .contains("(Wald, by these errors)");
    CliRun one = fitted("04_few", "y ~ x", "--vcov", "HC1");
    double t = table().get("x")[2];
    assertThat(one.out()).contains("F-statistic: %.1f on 1 and 28 DF".formatted(t * t));
  }

  @Test
  void aConstantLabelHasNeitherR2NorF() throws Exception {
    CliRun run = fitted("10_perfect", "yconst ~ x");
    assertThat(run.out())
        .containsPattern("Multiple R-squared: +NaN")
        .containsPattern("F-statistic: +NaN")
        .contains("Warning: the label is constant");
  }

  @Test
  void datesAreLevelsAndTruthIsANumber() throws Exception {
    fitted("07_dates", "y ~ x | day + ym");
    assertTerm("x", -0.092795, 0.146797);
    fitted("28_bool", "won ~ x");
    assertTerm("x", 0.295839, 0.079261);
  }

  @Test
  void equalNamesAreMadeDistinct() throws Exception {
    CliRun run = fitted("29_collide", "y ~ x + x1 + x2", "--types", "x=text");
    assertThat(table().keySet()).containsExactly("(Intercept)", "x1", "x2", "x3", "x1.1", "x2.1");
    assertThat(run.out()).contains("Warning: two coefficients are named x1");
  }

  @Test
  void namesMayDifferInCaseAndContainAnything() throws Exception {
    fitted("26_names", "y ~ x + X + `my var` + `a.b` + größe + `x:z` + `1st` + `if` + 日本");
    assertThat(table().get("x")[0]).isNotEqualTo(table().get("X")[0]);
    assertThat(table()).hasSize(10);
  }

  @Test
  void aRowOfLeverageOneHasNoErrorByHc3() throws Exception {
    for (String vcov : new String[] {"HC2", "HC3"}) {
      CliRun run = fitted("31_lev", "y ~ x + d", "--vcov", vcov);
      assertThat(table().get("d")[1]).isNaN();
      assertThat(table().get("x")[1]).isPositive();
      assertThat(run.out()).contains("Warning: leverage 1 in 1 row(s)");
    }
  }

  @Test
  void nearlyDependentColumnsAreNamed() throws Exception {
    CliRun run = fitted("34_near", "y ~ a + b + s32");
    assertThat(run.out()).contains("the columns of a, b, s32 are nearly dependent");
    fitted("34_near", "y ~ a + b + s32", "--rank-tolerance", "1e-7");
    assertUndefined("s32");
  }

  @Test
  void theResponseOnTheRightIsDropped() throws Exception {
    CliRun run = fitted("04_few", "y ~ y + x");
    assertThat(table().keySet()).containsExactly("(Intercept)", "x");
    assertThat(run.out()).contains("Warning: the response y is on the right-hand side");
  }

  @Test
  void clustersAreNoRegressorsOfADot() throws Exception {
    fitted("04_few", "y ~ .", "--cluster", "two");
    assertThat(table().keySet())
        .containsExactly("(Intercept)", "x", "fef1", "fef2", "fef3", "fef4");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "--cluster;nosuch;--cluster: no column nosuch; there are fe, one, two, x, y",
        "--vcov;hetero;'hetero' is none of iid, HC0, HC1, HC2, HC3, cluster",
        "--categorical;nosuch;--categorical: no column nosuch",
        "--reference-levels;nosuch=a;not of the form column=level",
        "--reference-levels;fe=f9;f9"
      })
  void whatIsNotThereIsOneLine(String option, String value, String message) throws Exception {
    CliRun run = run("04_few", "y ~ x + fe", option, value);
    assertThat(run.code()).isEqualTo(2);
    assertThat(run.errors()).hasSize(1);
    assertThat(run.errors().get(0)).contains(message.split("; there")[0]);
  }

  @Test
  void namesAndLevelsMayContainCommas() throws Exception {
    Path file = folder.resolve("commas.csv");
    var lines = new StringBuilder("y,x,\"city, state\",g\n");
    String[] cities = {"\"Austin, TX\"", "\"New York, NY\"", "Boston"};
    for (int i = 0; i < 30; i++) {
      lines.append((i * 7 % 11) + 0.5).append(',').append(i % 5).append(',');
      lines.append(cities[i % 3]).append(',').append("g").append(i % 4).append('\n');
    }
    Files.writeString(file, lines);
    CliRun run =
        CliRun.of(
            "regress",
            file,
            "--formula",
            "y ~ x + `city, state`",
            "--reference-levels",
            "city, state=New York, NY",
            "--cluster",
            "g,city, state");
    assertThat(run.code()).as(run.err()).isZero();
    assertThat(run.out()).contains("`city, state`Austin, TX").contains("`city, state`Boston");
    assertThat(run.out()).contains("clustered by g (4) and city, state (3)");
  }

  @Test
  void rowsThatAllLackAValueAreSaid() throws Exception {
    CliRun run = run("12_weights", "y ~ log(x)", "--handle-invalid", "skip", "--weights", "wall0");
    assertThat(run.code()).isNotZero();
    assertThat(run.errors()).hasSize(1);
    Path file = Files.writeString(folder.resolve("gone.csv"), "y,x\n1,NA\n2,NA\nNA,3\n");
    CliRun none = CliRun.of("regress", file, "--formula", "y ~ x", "--handle-invalid", "skip");
    assertThat(none.errors())
        .containsExactly(
            "sparqr: no row has a value in all columns that are used: 3 rows left out for want of"
                + " y (1), x (2)");
    Path single = Files.writeString(folder.resolve("one.csv"), "y,x\n1,2\n");
    CliRun one = CliRun.of("regress", single, "--formula", "y ~ x");
    assertThat(one.code()).isZero();
    assertThat(one.out()).contains("Warning: no residual degrees of freedom");
  }
}
