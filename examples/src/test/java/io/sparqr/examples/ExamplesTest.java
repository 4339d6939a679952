/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.examples;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.SampledCases;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.stream.Stream;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class ExamplesTest {

  private static SparkSession spark;

  @BeforeAll
  static void start() {
    spark =
        SparkSession.builder()
            .master("local[2]")
            .config("spark.ui.enabled", false)
            .config("spark.driver.host", "127.0.0.1")
            .getOrCreate();
  }

  @AfterAll
  static void stop() throws IOException {
    spark.close();
  }

  static Stream<Arguments> examples() {
    return Stream.of(
        example("HelloLeastSquares", HelloLeastSquares::run),
        example("WeightedRidge", WeightedRidge::run),
        example("SeveralRightHandSides", SeveralRightHandSides::run),
        example("OneHotRegression", OneHotRegression::run),
        example("MlRegression", MlRegression::run),
        example("RankDeficient", RankDeficient::run),
        example("RefitWithNewLabels", RefitWithNewLabels::run),
        example("ReweightedLeastSquares", ReweightedLeastSquares::run),
        example("WagesOfWorkersAndFirms", WagesOfWorkersAndFirms::run),
        example("AnalyzeBeforeYouFactor", AnalyzeBeforeYouFactor::run),
        example("WagesByFormula", WagesByFormula::run),
        example("DemandRidgePath", DemandRidgePath::run),
        example("ErrorEllipses", ErrorEllipses::run),
        example("NightlyAppend", NightlyAppend::run),
        example("BackgroundSubtraction", BackgroundSubtraction::run));
  }

  private static Arguments example(String name, Example example) {
    return Arguments.of(name, example);
  }

  @SampledCases(oneIn = 5)
  @ParameterizedTest(name = "{0}")
  @MethodSource("examples")
  void findsItsOwnAnswerRight(String name, Example example) {
    ByteArrayOutputStream text = new ByteArrayOutputStream();
    boolean right = example.run(spark, new PrintStream(text, true, StandardCharsets.UTF_8));
    assertThat(right).as("%s printed:%n%s", name, text).isTrue();
    assertThat(text.toString(StandardCharsets.UTF_8).lines().count()).isGreaterThanOrEqualTo(2);
  }
}
