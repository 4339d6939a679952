/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign.regression;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.campaign.regression.FormulaTree.Effect;
import io.sparqr.numeric.Tolerances;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The oracle says what R 4.2 (lm, sandwich) and pyfixest 0.60 say of files in regression/. */
@Tag("numbers")
class RegressionOracleTest {

  /** Figures are known to this many digits. */
  private static final double DIGITS = Tolerances.decimals(6);

  private static Sheet sheet(String name) throws IOException {
    Path file;
    try {
      file = Path.of(RegressionOracleTest.class.getResource("/regression/" + name).toURI());
    } catch (URISyntaxException e) {
      throw new AssertionError(e);
    }
    List<String[]> lines = Files.readAllLines(file).stream().map(l -> l.split(",", -1)).toList();
    var columns = new ArrayList<Sheet.Column>();
    for (int j = 0; j < lines.get(0).length; j++) {
      int k = j;
      List<String> fields = lines.stream().skip(1).map(l -> l[k]).toList();
      boolean number = fields.stream().allMatch(f -> f.matches("[-+.0-9eE]*|NA"));
      Sheet.Kind kind = number ? Sheet.Kind.NUMBER : Sheet.Kind.TEXT;
      columns.add(
          new Sheet.Column(
              lines.get(0)[j],
              kind,
              fields.stream()
                  .map(
                      f ->
                          f.isEmpty() || f.equals("NA")
                              ? null
                              : number ? (Object) Double.valueOf(f) : f)
                  .toArray()));
    }
    return new Sheet(columns);
  }

  private static Effect[] effects(String... columns) {
    return Arrays.stream(columns).map(c -> new Effect(List.of(c), '^')).toArray(Effect[]::new);
  }

  private static Expected expected(
      String file, Expression right, RegressionOptions options, Effect... effects)
      throws IOException {
    var formula = new FormulaTree(Variable.of("y"), right, List.of(effects));
    return Oracle.of(
        new RegressionCase(0, 0, List.of(), sheet(file), formula, options.skipping()), false);
  }

  private static Expected.Coefficient of(Expected all, String name) {
    return all.coefficients().stream().filter(c -> c.name().equals(name)).findFirst().orElseThrow();
  }

  private static void check(
      Expected all, String name, double estimate, double error, double digits) {
    assertThat(of(all, name).estimate().value()).as(name).isCloseTo(estimate, within(digits));
    assertThat(of(all, name).error().value()).as(name).isCloseTo(error, within(digits));
  }

  private static Expression e(String column) {
    return Expression.of(column);
  }

  private static RegressionOptions clusters(String how, String... columns) {
    return RegressionOptions.plain().withClusters(List.of(columns), how);
  }

  @Test
  void whatEffectsSpanIsNotDefined() throws IOException {
    Effect[] panel = effects("id", "date");
    Expected all =
        expected("24_third.csv", e("edu").plus(e("ret")), RegressionOptions.plain(), panel);
    assertThat(of(all, "edu").defined()).isFalse();
    check(all, "ret", -0.135335, 0.119208, DIGITS);
    all = expected("24_third.csv", e("treat").star(e("post")), clusters("", "id"), panel);
    assertThat(all.coefficients().stream().map(Expected.Coefficient::defined))
        .containsExactly(false, false, true);
    check(all, "treat:post", 0.441204, 0.370409, DIGITS);
    assertThat(all.scalars().get("r2within").value())
        .isCloseTo(0.01709, within(Tolerances.decimals(5)));
  }

  @Test
  void aNumberIsANumber() throws IOException {
    Effect[] panel = effects("firm", "year");
    Expected all =
        expected(
            "23_trend.csv",
            e("x").plus(e("treat").colon(e("year"))),
            RegressionOptions.plain(),
            panel);
    check(all, "x", 0.999417, 0.109812, DIGITS);
    check(all, "treat:year", 0.496798, 0.132446, DIGITS);
  }

  @Test
  void anEventStudy() throws IOException {
    Expression years = new Expression.Name(Variable.factor("year"));
    RegressionOptions options = clusters("", "firm").withReferences(Map.of("year", "2017"));
    Expected all =
        expected(
            "23_trend.csv", e("x").plus(e("treat").colon(years)), options, effects("firm", "year"));
    assertThat(of(all, "treat:factor(year)2017").defined()).isFalse();
    check(all, "treat:factor(year)2015", -0.171, 0.731, Tolerances.decimals(3));
    check(all, "treat:factor(year)2016", 0.602, 0.620, Tolerances.decimals(3));
    assertThat(of(all, "treat:factor(year)2018").estimate().value())
        .isCloseTo(1.369, within(Tolerances.decimals(3)));
    assertThat(of(all, "treat:factor(year)2019").estimate().value())
        .isCloseTo(1.921, within(Tolerances.decimals(3)));
  }

  @Test
  void nestedEffectsAreNotCounted() throws IOException {
    Expected all =
        expected(
            "01_nested.csv",
            e("x").plus(e("z")),
            clusters("fixest", "municipality"),
            effects("hh", "community"));
    check(all, "x", 0.400198, 0.074988, DIGITS);
    check(all, "z", -0.401185, 0.072777, DIGITS);
  }

  @Test
  void clusters() throws IOException {
    assertThat(expected("04_few.csv", e("x"), clusters("", "one")).error())
        .isEqualTo(Oracle.ONE_CLUSTER);
    Expected two = expected("04_few.csv", e("x"), clusters("", "two"));
    check(two, "x", 2.058997, 0.020236, DIGITS);
    assertThat(of(two, "x").p().value()).isCloseTo(0.006257, within(DIGITS));
    Expected negative = expected("05_nonpsd.csv", e("x"), clusters("sandwich", "a", "b"));
    assertThat(negative.notes()).contains("negative two-way variance");
    assertThat(of(negative, "x").error().value()).isCloseTo(0.035979, within(DIGITS));
    Expected weights = expected("12_weights.csv", e("x").plus(e("z")), clusters("", "g"));
    assertThat(weights.scalars().get("f").value()).isCloseTo(128.7, within(Tolerances.decimals(1)));
  }

  @Test
  void aLevelThatIsLost() throws IOException {
    Expected all = expected("03_lost_level.csv", e("x").plus(e("g")), clusters("", "cl"));
    assertThat(all.coefficients().stream().map(Expected.Coefficient::name))
        .containsExactly("(Intercept)", "x", "ggamma", "gzeta");
    assertThat(of(all, "x").estimate().value()).isCloseTo(0.83155, within(Tolerances.decimals(5)));
    assertThat(of(all, "ggamma").estimate().value())
        .isCloseTo(0.89375, within(Tolerances.decimals(5)));
    assertThat(of(all, "gzeta").estimate().value())
        .isCloseTo(2.06636, within(Tolerances.decimals(5)));
  }
}
