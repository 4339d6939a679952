/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.examples;

import io.sparqr.spark.GpuSparseQR;
import io.sparqr.spark.report.LeastSquaresSolution;
import java.io.PrintStream;
import java.util.List;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.mllib.linalg.Vectors;
import org.apache.spark.mllib.regression.LabeledPoint;
import org.apache.spark.sql.SparkSession;

/** A line through five points: the smallest program. */
public final class HelloLeastSquares {

  private HelloLeastSquares() {}

  /** Runs it. */
  public static void main(String[] args) {
    Example.main(HelloLeastSquares::run);
  }

  static boolean run(SparkSession spark, PrintStream out) {
    // A row is (1, t); its label is the measurement at t.
    JavaRDD<LabeledPoint> rows =
        JavaSparkContext.fromSparkContext(spark.sparkContext())
            .parallelize(List.of(point(0, 1), point(1, 3), point(2, 4), point(3, 8), point(4, 9)));

    LeastSquaresSolution s = GpuSparseQR.solve(rows);

    out.printf("y = %.3f + %.3f t%n", s.x()[0], s.x()[1]);
    out.printf("residual norm %.4f, rank %d%n", s.residualNorm(), s.rank());
    // By hand: slope 21 / 10, intercept 5 - 2 * 2.1, squares of the residuals 1.9.
    return Example.close(s.x()[0], 0.8)
        && Example.close(s.x()[1], 2.1)
        && Example.close(s.residualNorm(), Math.sqrt(1.9))
        && s.rank() == 2;
  }

  private static LabeledPoint point(double t, double y) {
    return new LabeledPoint(y, Vectors.dense(1, t));
  }
}
