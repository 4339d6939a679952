/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.examples;

import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.spark.GpuSparseQR;
import io.sparqr.spark.QRFactorization;
import io.sparqr.spark.SparseQRSolver;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.report.LeastSquaresSolution;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.io.PrintStream;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;

/**
 * A sequence of problems of one pattern: min ||b - A x||_1 by iteratively reweighted least squares.
 * Ordering and symbolic analysis are made once. Builds on {@link WeightedRidge}.
 */
public final class ReweightedLeastSquares {

  private static final int STEPS = 12;

  private ReweightedLeastSquares() {}

  /** Runs it. */
  public static void main(String[] args) {
    Example.main(ReweightedLeastSquares::run);
  }

  static boolean run(SparkSession spark, PrintStream out) {
    CsrMatrix a = Gallery.generate("gen:onehot2000x40x10");
    double[] truth = new double[a.columns()];
    Arrays.fill(truth, 1);
    double[] b = a.multiply(truth);
    for (int i = 0; i < b.length; i += 40) {
      b[i] += 100; // one gross error in 40: least squares spreads it over all unknowns
    }
    var context = JavaSparkContext.fromSparkContext(spark.sparkContext());
    double[] weight = new double[b.length];
    Arrays.fill(weight, 1);

    SparseQRSolver qr = GpuSparseQR.builder().build();
    LeastSquaresSolution s = null;
    for (int step = 0; step < STEPS; step++) {
      try (QRFactorization f = qr.factorize(context.parallelize(rows(a, b, weight), 4))) {
        s = f.solve();
        SymbolicAnalysis analysis = f.analysis();
        qr = GpuSparseQR.builder().analysis(analysis).build();
      }
      double[] fit = a.multiply(s.x());
      double sum = 0;
      for (int i = 0; i < b.length; i++) {
        double r = Math.abs(b[i] - fit[i]);
        sum += r;
        weight[i] = 1 / Math.max(r, 1e-8);
      }
      if (step == 0 || step == STEPS - 1) {
        out.printf(
            "step %d: ||b - Ax||_1 = %.4f, largest error of x %.1e, analysis %.3f s%n",
            step + 1, sum, error(s.x()), s.report().seconds().order());
      }
    }
    return error(s.x()) < 1e-6 && s.report().warnings().isEmpty();
  }

  private static double error(double[] x) {
    return Arrays.stream(x).map(v -> Math.abs(v - 1)).max().orElse(0);
  }

  private static List<SparseRow> rows(CsrMatrix a, double[] b, double[] weight) {
    return IntStream.range(0, a.rows())
        .mapToObj(
            i -> {
              int from = a.rowStart()[i];
              int to = a.rowStart()[i + 1];
              return new SparseRow(
                  Arrays.copyOfRange(a.columnIndex(), from, to),
                  Arrays.copyOfRange(a.values(), from, to),
                  new double[] {b[i]},
                  weight[i],
                  a.columns());
            })
        .toList();
  }
}
