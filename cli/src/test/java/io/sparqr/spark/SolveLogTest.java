/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.Sampled;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.spark.report.LeastSquaresSolution;
import io.sparqr.spark.report.SolveReport;
import io.sparqr.sparse.CsrMatrix;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Locale;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.core.LoggerContext;
import org.apache.logging.log4j.core.config.ConfigurationSource;
import org.apache.logging.log4j.core.config.properties.PropertiesConfigurationFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A solve's lines in the driver's log, and where they are shown. */
class SolveLogTest {

  private static final String SECONDS = "\\d+\\.\\d{3} s";
  private static final String MEGABYTES = "[0-9,]+\\.\\d MB";

  @Sampled(oneIn = 3)
  @Test
  void aSolveLogsOneLineAPhase() {
    CsrMatrix a = Problems.grid(12, 21);
    double[] b = Problems.rhs(a.rows(), 22);
    LeastSquaresSolution s;
    List<String> lines;
    try (var log = new CapturedLog()) {
      s =
          GpuSparseQR.builder()
              .ordering(OrderingMethod.AMD)
              .partitionOptions(new PartitionOptions(2, 2, 2, 0))
              .refinement(1)
              .build()
              .solve(Problems.rdd(a, 3, b));
      lines = log.lines(Level.INFO);
    }
    SolveReport r = s.report();
    assertThat(lines).hasSize(7);
    assertThat(lines.get(0))
        .matches(
            ("pattern: %d rows x 144 columns, %d nonzeros, 1 right-hand side,"
                        + " [0-9,]+ distinct row patterns; ")
                    .formatted(a.rows(), a.nonzeros())
                + SECONDS);
    assertThat(lines.get(1))
        .startsWith("ordering: AMD (" + r.analysis().orderingReason() + "), ")
        .contains(r.analysis().fronts() + " fronts, " + SolveReport.work(r.analysis().flops()));
    assertThat(lines.get(2))
        .matches(
            "cut: %d tasks in 2 levels for 1 worker, predicted .*FLOP, %s, at most %s a task; %s"
                .formatted(r.analysis().subtreeTasks(), SECONDS, MEGABYTES, SECONDS));
    assertThat(lines.get(3)).matches("rows: to the tasks of their fronts; " + SECONDS);
    assertThat(lines.get(4))
        .contains(" by cpu", String.format(Locale.ROOT, "; %.3f s", r.seconds().factorize()))
        .matches(
            "factorize: .*FLOP by .*, at most %s a task; %s, predicted %s"
                .formatted(MEGABYTES, SECONDS, SECONDS));
    assertThat(lines.get(5))
        .matches("solve: back substitution, 1 step of refinement; " + SECONDS)
        .contains(String.format(Locale.ROOT, "%.3f s", r.seconds().solve()));
    assertThat(lines.get(6))
        .isEqualTo(
            String.format(
                Locale.ROOT,
                "done: rank 144 of 144, ||b - Ax|| = %.6e; %.3f s in all",
                s.residualNorm(),
                r.seconds().total()));
  }

  @Test
  void furtherRightHandSidesHaveALineToo() {
    CsrMatrix a = Problems.grid(6, 23);
    var rows = Problems.rdd(a, 2, Problems.rhs(a.rows(), 24));
    var other = rows.map(r -> new double[] {1, 2});
    try (var f = GpuSparseQR.builder().build().factorize(rows);
        var log = new CapturedLog()) {
      f.solve(other);
      assertThat(log.lines(Level.INFO))
          .singleElement()
          .asString()
          .matches(
              "solve: further right-hand sides by the corrected semi-normal equations: Q was not"
                  + " kept, 2 of them, .*; "
                  + SECONDS);
    }
  }

  /**
   * The command line's configuration: silent, but with --verbose our lines and Spark's warnings.
   */
  @ParameterizedTest
  @CsvSource({"off, OFF, OFF", "warn, WARN, INFO"})
  void theCommandLineIsSilentUnlessVerbose(String level, String spark, String own)
      throws IOException {
    String before = System.getProperty("sparqr.log.level");
    System.setProperty("sparqr.log.level", level);
    try (InputStream in =
        getClass().getResourceAsStream("/io/sparqr/spark/cli/log4j2.properties")) {
      var context = new LoggerContext("a test");
      var configuration =
          new PropertiesConfigurationFactory()
              .getConfiguration(context, new ConfigurationSource(in));
      configuration.initialize();
      assertThat(configuration.getRootLogger().getLevel()).isEqualTo(Level.valueOf(spark));
      assertThat(configuration.getLoggerConfig("io.sparqr").getLevel())
          .isEqualTo(Level.valueOf(own));
    } finally {
      if (before == null) {
        System.clearProperty("sparqr.log.level");
      } else {
        System.setProperty("sparqr.log.level", before);
      }
    }
  }
}
