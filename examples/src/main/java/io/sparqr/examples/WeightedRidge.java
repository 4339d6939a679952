/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.examples;

import io.sparqr.spark.GpuSparseQR;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.report.LeastSquaresSolution;
import java.io.PrintStream;
import java.util.List;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;

/**
 * Sparse rows with weights, and a ridge: min sum w_i (b_i - a_i x)^2 + lambda ||x||^2. Builds on
 * {@link HelloLeastSquares}.
 */
public final class WeightedRidge {

  private static final double LAMBDA = 0.5;

  private WeightedRidge() {}

  /** Runs it. */
  public static void main(String[] args) {
    Example.main(WeightedRidge::run);
  }

  static boolean run(SparkSession spark, PrintStream out) {
    List<SparseRow> data =
        List.of(
            row(new int[] {0, 1}, new double[] {1, 2}, 3, 1),
            row(new int[] {0}, new double[] {4}, 5, 2),
            row(new int[] {1}, new double[] {-1}, 1, 0.25),
            row(new int[] {0, 1}, new double[] {2, 1}, 0, 4));
    JavaRDD<SparseRow> rows =
        JavaSparkContext.fromSparkContext(spark.sparkContext()).parallelize(data);

    LeastSquaresSolution s = GpuSparseQR.builder().ridge(LAMBDA).solve(rows);

    double[] expected = normalEquations(data);
    out.printf("x = (%.6f, %.6f), lambda = %.2f%n", s.x()[0], s.x()[1], LAMBDA);
    out.printf("by the 2 x 2 normal equations (%.6f, %.6f)%n", expected[0], expected[1]);
    return Example.close(s.x()[0], expected[0]) && Example.close(s.x()[1], expected[1]);
  }

  private static SparseRow row(int[] indices, double[] values, double label, double weight) {
    return new SparseRow(indices, values, new double[] {label}, weight, 2);
  }

  /** Good enough for two columns; Sparqr itself never forms A'A. */
  private static double[] normalEquations(List<SparseRow> rows) {
    double[][] a = {{LAMBDA, 0}, {0, LAMBDA}};
    double[] c = new double[2];
    for (SparseRow r : rows) {
      for (int k = 0; k < r.indices().length; k++) {
        double weighted = r.weight() * r.values()[k];
        c[r.indices()[k]] += weighted * r.labels()[0];
        for (int l = 0; l < r.indices().length; l++) {
          a[r.indices()[k]][r.indices()[l]] += weighted * r.values()[l];
        }
      }
    }
    double det = a[0][0] * a[1][1] - a[0][1] * a[1][0];
    return new double[] {
      (c[0] * a[1][1] - c[1] * a[0][1]) / det, (c[1] * a[0][0] - c[0] * a[1][0]) / det
    };
  }
}
