/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests say what they accept by the class Tolerances, where each tolerance has its reason; the
 * module partitioning, which does not see it, by bounds that it computes.
 */
@Tag("once")
class BareTolerancesTest {

  /** Files with a number that is no tolerance, and what it is instead. */
  private static final Map<String, String> EXCEPTIONS =
      Map.of("TolerancesTest.java", "the error that it plants");

  @Test
  void noAssertionHasOne() throws IOException {
    var bare = new TreeSet<String>();
    var excused = new TreeSet<String>();
    int files = 0;
    for (String module :
        List.of("partitioning", "gpu-core", "spark-connector", "regression", "cli")) {
      try (Stream<Path> all = Files.walk(Markdown.ROOT.resolve(module + "/src/test/java"))) {
        for (Path f : all.filter(p -> p.toString().endsWith(".java")).toList()) {
          files++;
          Map<Integer, String> found = BareTolerances.of(Files.readString(f));
          if (!found.isEmpty() && EXCEPTIONS.containsKey(f.getFileName().toString())) {
            excused.add(f.getFileName().toString());
          } else {
            found.forEach(
                (line, what) ->
                    bare.add("%s:%d: %s".formatted(Markdown.ROOT.relativize(f), line, what)));
          }
        }
      }
    }
    assertThat(bare).as("take one of Tolerances, or give it one with its reason").isEmpty();
    assertThat(excused).as("exceptions, all needed").isEqualTo(EXCEPTIONS.keySet());
    assertThat(files).isGreaterThan(400);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "assertThat(x).isCloseTo(y, within(1e-9));",
        "assertThat(x).isCloseTo(y, within(2.5e-9 * Math.max(f(x), 1)));",
        "assertThat(x).isCloseTo(y, org.assertj.core.data.Offset.offset(1e-9));",
        "assertThat(x).isCloseTo(y, withinPercentage(1e-7));",
        "assertThat(x).isCloseTo(y, within(.00001));",
        "assertThat(x).containsExactly(new double[] {1, 2}, within(1e-15));",
        "assertThat(Math.abs(x - y)).as(\"(\").isLessThan(1e-9);",
        "assertThat(x - y).isLessThanOrEqualTo(1e-9 * size);",
        "assertThat(x).isBetween(y - 1e-9, y + 1e-9);",
        "assertThat(x).usingComparatorWithPrecision(1e-9).isEqualTo(y);",
        "assertThat(all || Math.abs(x - y) <= 1e-9 * size).isTrue();",
        "assertThat(list).allMatch(v -> v < y + 1e-9);",
        "assertEquals(x, y, 1e-9);",
        "Tolerances.require(x - y, 1e-9, \"x\");",
        "Tolerances.requireClose(x, y, 1e-9, \"x\");",
        "double eps = 1e-9 * size; assertThat(x).isLessThan(eps);",
        "static final double EPS = 1E-9; void f() { assertThat(x).isCloseTo(y, within(3 * EPS)); }",
        "void g() { near(x, y, 1e-9); } void near(double x, double y, double t) {"
            + " assertThat(x).isCloseTo(y, within(t)); }"
      })
  void anyFormOfOneIsFound(String code) {
    assertThat(BareTolerances.of("\n" + code)).containsOnlyKeys(2);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "// within(1e-9)",
        "assertThat(x).as(\"within(1e-9)\").isCloseTo(1e-9, within(Tolerances.roundings(2, 1e-9)));",
        "assertThat(f(1e-9)).isCloseTo(y, within(Tolerances.SOLUTION * size));",
        "double tiny = 1e-9; assertThat(g(tiny)).isCloseTo(y, within(Math.ulp(y)));",
        "void g() { near(1e-9, y); } void near(double x, double y) {"
            + " assertThat(x).isCloseTo(y, within(Tolerances.SOLUTION)); }",
        "assertThat(seconds).isLessThan(0.5);"
      })
  void otherNumbersAreNot(String code) {
    assertThat(BareTolerances.of(code)).isEmpty();
  }
}
