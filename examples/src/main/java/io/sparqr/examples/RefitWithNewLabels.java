/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.examples;

import io.sparqr.matrix.gallery.DefaultRightHandSide;
import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.spark.GpuSparseQR;
import io.sparqr.spark.QRFactorization;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.report.LeastSquaresSolution;
import io.sparqr.sparse.CsrMatrix;
import java.io.PrintStream;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;

/**
 * New measurements on the same matrix: R stays on the executors, a further right-hand side costs
 * two passes over the rows and no factorization; with {@code keepQ} Q stays too, and one pass gives
 * the accuracy of the first solution. Builds on {@link SeveralRightHandSides}.
 */
public final class RefitWithNewLabels {

  private RefitWithNewLabels() {}

  /** Runs it. */
  public static void main(String[] args) {
    Example.main(RefitWithNewLabels::run);
  }

  static boolean run(SparkSession spark, PrintStream out) {
    CsrMatrix a = Gallery.generate("gen:cells2d40");
    double[] b = DefaultRightHandSide.of(a);
    var context = JavaSparkContext.fromSparkContext(spark.sparkContext());
    JavaRDD<SparseRow> rows = context.parallelize(SeveralRightHandSides.rows(a, b), 4).cache();
    // The same rows in the same order, so that the labels match them; here they are 3 b.
    JavaRDD<double[]> tripled = rows.map(r -> new double[] {3 * r.labels()[0]});

    LeastSquaresSolution first;
    LeastSquaresSolution second;
    try (QRFactorization f = GpuSparseQR.builder().build().factorize(rows)) {
      first = f.solve();
      second = f.solve(tripled);
    }
    LeastSquaresSolution third;
    try (QRFactorization f = GpuSparseQR.builder().keepQ(true).build().factorize(rows)) {
      third = f.solve(tripled);
      f.summary().notes().forEach(out::println);
    }
    rows.unpersist(false);

    return isTriple(first, second, out) & isTriple(first, third, out);
  }

  private static boolean isTriple(
      LeastSquaresSolution first, LeastSquaresSolution second, PrintStream out) {
    double error = 0;
    double size = 0;
    for (int j = 0; j < first.x().length; j++) {
      error = Math.max(error, Math.abs(second.x()[j] - 3 * first.x()[j]));
      size = Math.max(size, Math.abs(3 * first.x()[j]));
    }
    out.println(String.join("; ", second.report().notes()));
    out.printf("residual norms %.6f and %.6f%n", first.residualNorm(), second.residualNorm());
    out.printf("largest deviation from 3 x: %.1e of %.2f%n", error, size);
    return error <= 1e-9 * size
        && Math.abs(second.residualNorm() - 3 * first.residualNorm())
            <= 1e-9 * second.residualNorm();
  }
}
