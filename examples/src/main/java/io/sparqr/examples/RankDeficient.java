/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.examples;

import io.sparqr.spark.GpuSparseQR;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.report.LeastSquaresSolution;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;

/**
 * The dummy variable trap: an intercept and all levels of two factors, so that two columns depend
 * on others. Sparqr finds the rank, names the dependent columns, and gives a basic solution with
 * the least residual. Builds on {@link OneHotRegression}.
 */
public final class RankDeficient {

  private static final int FIRST = 5;
  private static final int SECOND = 4;

  private RankDeficient() {}

  /** Runs it. */
  public static void main(String[] args) {
    Example.main(RankDeficient::run);
  }

  static boolean run(SparkSession spark, PrintStream out) {
    int n = 1 + FIRST + SECOND;
    var context = JavaSparkContext.fromSparkContext(spark.sparkContext());

    LeastSquaresSolution trapped = GpuSparseQR.solve(context.parallelize(rows(false), 3));
    LeastSquaresSolution clean = GpuSparseQR.solve(context.parallelize(rows(true), 3));

    out.printf(
        "%d columns, rank %d, dependent columns %s%n",
        n, trapped.rank(), Arrays.toString(trapped.deadColumns()));
    out.printf(
        "residual norm %.9f, with two levels left out %.9f%n",
        trapped.residualNorm(), clean.residualNorm());
    boolean zero = Arrays.stream(trapped.deadColumns()).allMatch(j -> trapped.x()[j] == 0);
    return trapped.rank() == n - 2
        && trapped.deadColumns().length == 2
        && zero
        && clean.rank() == n - 2
        && Example.close(trapped.residualNorm(), clean.residualNorm());
  }

  /** Intercept, levels of two factors; with {@code dropped} without the last level of each. */
  private static List<SparseRow> rows(boolean dropped) {
    List<SparseRow> rows = new ArrayList<>();
    for (int i = 0; i < 60; i++) {
      int first = i % FIRST;
      int second = i / FIRST % SECOND;
      List<Integer> columns = new ArrayList<>(List.of(0));
      if (!dropped || first < FIRST - 1) {
        columns.add(1 + first);
      }
      if (!dropped || second < SECOND - 1) {
        columns.add((dropped ? FIRST : 1 + FIRST) + second);
      }
      double[] ones = new double[columns.size()];
      Arrays.fill(ones, 1);
      int[] indices = columns.stream().mapToInt(j -> j).toArray();
      double[] label = {first + 10.0 * second + Math.sin(i)};
      rows.add(
          new SparseRow(
              indices, ones, label, 1, dropped ? FIRST + SECOND - 1 : 1 + FIRST + SECOND));
    }
    return rows;
  }
}
