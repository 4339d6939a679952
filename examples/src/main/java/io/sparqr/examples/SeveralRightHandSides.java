/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.examples;

import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.spark.GpuSparseQR;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.report.LeastSquaresSolution;
import io.sparqr.sparse.CsrMatrix;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;

/**
 * One factorization for three right-hand sides: rows carry as many labels as there are problems.
 * Builds on {@link WeightedRidge}.
 */
public final class SeveralRightHandSides {

  private SeveralRightHandSides() {}

  /** Runs it. */
  public static void main(String[] args) {
    Example.main(SeveralRightHandSides::run);
  }

  static boolean run(SparkSession spark, PrintStream out) {
    CsrMatrix a = Gallery.generate("gen:cells2d30");
    double[][] planted = new double[3][a.columns()];
    for (int j = 0; j < a.columns(); j++) {
      planted[0][j] = 1;
      planted[1][j] = j;
      planted[2][j] = Math.cos(j);
    }
    double[][] b = new double[3][];
    for (int k = 0; k < 3; k++) {
      b[k] = a.multiply(planted[k]);
    }
    var context = JavaSparkContext.fromSparkContext(spark.sparkContext());

    LeastSquaresSolution s = GpuSparseQR.solve(context.parallelize(rows(a, b), 4));

    boolean right = s.rhsCount() == 3;
    for (int k = 0; k < 3; k++) {
      double error = 0;
      double size = 0;
      for (int j = 0; j < a.columns(); j++) {
        error = Math.max(error, Math.abs(s.x(k)[j] - planted[k][j]));
        size = Math.max(size, Math.abs(planted[k][j]));
      }
      out.printf(
          "right-hand side %d: largest error %.1e, residual norm %.1e%n",
          k, error / size, s.residualNorms()[k]);
      right &= error <= 1e-9 * size;
    }
    return right;
  }

  /** Rows of A with the labels of every right-hand side. */
  static List<SparseRow> rows(CsrMatrix a, double[]... b) {
    List<SparseRow> rows = new ArrayList<>(a.rows());
    for (int i = 0; i < a.rows(); i++) {
      double[] labels = new double[b.length];
      for (int k = 0; k < b.length; k++) {
        labels[k] = b[k][i];
      }
      int from = a.rowStart()[i];
      int to = a.rowStart()[i + 1];
      rows.add(
          new SparseRow(
              Arrays.copyOfRange(a.columnIndex(), from, to),
              Arrays.copyOfRange(a.values(), from, to),
              labels,
              1,
              a.columns()));
    }
    return rows;
  }
}
