/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package demo;

import io.sparqr.spark.GpuSparseQR;
import java.util.List;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.mllib.linalg.Vectors;
import org.apache.spark.mllib.regression.LabeledPoint;

public class Hello {
  public static void main(String[] args) {
    try (var spark = new JavaSparkContext("local[*]", "hello")) {
      var rows = List.of(point(0, 1), point(1, 3), point(2, 4), point(3, 8), point(4, 9));
      var s = GpuSparseQR.solve(spark.parallelize(rows));
      System.out.printf("y = %.3f + %.3f t%n", s.x()[0], s.x()[1]);
    }
  }

  static LabeledPoint point(double t, double y) {
    return new LabeledPoint(y, Vectors.dense(1, t));
  }
}
