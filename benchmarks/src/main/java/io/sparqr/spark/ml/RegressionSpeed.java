/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.ml;

import com.sun.management.OperatingSystemMXBean;
import io.sparqr.spark.BenchmarkSpark;
import io.sparqr.spark.design.Design;
import io.sparqr.spark.design.DesignOptions;
import java.lang.management.ManagementFactory;
import java.util.Locale;
import java.util.Set;
import java.util.function.Supplier;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/**
 * Seconds from a DataFrame to a design's rows and to the table of coefficients, wall clock and CPU
 * of the process: {@code RegressionSpeed (panel | next | levels) ROWS RUNS [coefficients]}. {@code
 * panel}: ten years a worker, 15% of whom move between one firm for twenty workers each year, two
 * covariates; {@code next}: one firm for five workers, and who moves goes to one of the three next;
 * {@code levels}: factors of 5000, 300 and 50 levels and five covariates. On {@code
 * -Dsparqr.benchmark.master}, local[2] if it is not given; {@code -Dsparqr.benchmark.method=auto}
 * takes fronts by their Gram matrix, {@code -Dsparqr.benchmark.firms} is their number.
 */
public final class RegressionSpeed {

  private static final String PANEL = "log_wage ~ age + tenure + worker + firm";
  private static final String LEVELS = "y ~ x1 + x2 + x3 + x4 + x5 + a + b + c";

  private RegressionSpeed() {}

  private static Dataset<Row> panel(SparkSession spark, long rows, boolean next) {
    long workers = rows / 10;
    long firms = Long.getLong("sparqr.benchmark.firms", Math.max(2, workers / (next ? 5 : 20)));
    // "moved" is the year of the last move, which draws the firm; with "next" the sum of the steps
    // from the first firm
    String to = next ? "m + 1 + pmod(hash(worker, t, 3), 3)" : "t";
    String firm = next ? "hash(worker, 7) + moved" : "hash(worker, moved, 7)";
    return spark
        .range(rows)
        .selectExpr("id", "id div 10 as worker", "id % 10 as year")
        .selectExpr(
            "*",
            "aggregate(sequence(1, year), 0L, (m, t) -> IF(pmod(hash(worker, t), 100) < 15, "
                + to
                + ", m)) as moved")
        .selectExpr(
            "worker",
            "pmod(" + firm + ", " + firms + ") as firm",
            "20 + pmod(hash(worker), 30) + year + rand(1) as age",
            "year - moved + rand(2) as tenure",
            "randn(3) + (worker % 17) / 10 as log_wage");
  }

  private static Dataset<Row> levels(SparkSession spark, long rows) {
    return spark
        .range(rows)
        .selectExpr(
            "concat('a', pmod(hash(id, 1), 5000)) as a",
            "concat('b', pmod(hash(id, 2), 300)) as b",
            "concat('c', pmod(hash(id, 3), 50)) as c",
            "randn(1) as x1",
            "randn(2) as x2",
            "randn(3) as x3",
            "randn(4) as x4",
            "randn(5) as x5",
            "randn(6) as y");
  }

  private static <T> T timed(String what, Supplier<T> action) {
    var system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    long cpu = system.getProcessCpuTime();
    long wall = System.nanoTime();
    T result = action.get();
    System.out.printf(
        Locale.ROOT,
        "%-30s %7.2f s wall %7.2f s CPU%n",
        what,
        (System.nanoTime() - wall) * 1e-9,
        (system.getProcessCpuTime() - cpu) * 1e-9);
    return result;
  }

  /** Spark as these programs run it: two cores unless told otherwise, and quiet. */
  static SparkSession session() {
    SparkSession spark =
        SparkSession.builder()
            .config(
                BenchmarkSpark.conf(
                    System.getProperty("sparqr.benchmark.master", "local[2]"), "sparqr regression"))
            .getOrCreate();
    spark.sparkContext().setLogLevel("ERROR");
    return spark;
  }

  /** See the class. */
  public static void main(String[] args) {
    SparkSession spark = session();
    long rows = Long.parseLong(args[1]);
    boolean panel = !args[0].equals("levels");
    boolean next = args[0].equals("next");
    Dataset<Row> data = (panel ? panel(spark, rows, next) : levels(spark, rows)).cache();
    timed("data, " + data.count() + " rows", data::count);
    var options =
        DesignOptions.builder()
            .formula(panel ? PANEL : LEVELS)
            .categorical(panel ? Set.of("worker", "firm") : Set.of())
            .build();
    String method = System.getProperty("sparqr.benchmark.method", "householder");
    for (int k = 0; k < Integer.parseInt(args[2]); k++) {
      Design design = timed("levels", () -> Design.of(data, options));
      timed("rows of " + design.columns() + " columns", () -> design.rows(data).rows().count());
      boolean errors = args.length < 4 || !args[3].equals("coefficients");
      var estimator =
          new SparseQRRegression()
              .setFormula(panel ? PANEL : LEVELS)
              .setCategoricalCols(panel ? new String[] {"worker", "firm"} : new String[0])
              .setMethod(method)
              .setComputeStandardErrors(errors);
      var summary = timed("fit", () -> estimator.fit(data)).summary();
      timed("table", () -> summary.toDataFrame().count());
      timed("printout", summary::toString);
      System.out.println(summary.report().toText());
    }
    spark.stop();
  }
}
