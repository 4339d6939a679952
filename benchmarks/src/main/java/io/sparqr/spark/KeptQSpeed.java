/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import io.sparqr.backend.BackendChoice;
import io.sparqr.matrix.DenseMatrix;
import io.sparqr.spark.input.DriverRows;
import io.sparqr.spark.input.LocalProblem;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.sparse.CsrMatrix;
import java.util.Arrays;
import java.util.Locale;
import java.util.Random;
import java.util.function.Supplier;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.storage.StorageLevel;

/**
 * Seconds of products with the kept Q beside those of the factorization, with 1, 15, 16 and 64
 * vectors: {@code KeptQSpeed BACKEND REPEAT PROBLEM...}, problems as {@code grad3d40}. Shares of
 * the factorization are those of the medians; 15 vectors go one reflector at a time, 16 by blocks.
 */
public final class KeptQSpeed {

  private static final int[] WIDTHS = {1, 15, 16, 64};

  private KeptQSpeed() {}

  /** See the class. */
  public static void main(String[] args) {
    var backend = BackendChoice.valueOf(args[0].toUpperCase(Locale.ROOT));
    int repeat = Integer.parseInt(args[1]);
    var conf =
        BenchmarkSpark.cluster(System.getProperty("speed.master", "local[*]"), "kept Q", "12g");
    try (var context = new JavaSparkContext(conf)) {
      context.setLogLevel("ERROR");
      for (String problem : Arrays.asList(args).subList(2, args.length)) {
        CsrMatrix a = LocalProblem.generate("gen:" + problem);
        double[] b = new Random(1).doubles(a.rows(), -1, 1).toArray();
        var labeled = new LocalProblem(a, DenseMatrix.ofColumns(a.rows(), new double[][] {b}));
        try (var rows = new DriverRows(context, labeled, context.defaultParallelism())) {
          measure(problem, rows.rows(), GpuSparseQR.builder().backend(backend), repeat);
        }
      }
    }
  }

  private static void measure(
      String problem, JavaRDD<SparseRow> rows, GpuSparseQR.Builder builder, int repeat) {
    double[] made = new double[repeat];
    for (int k = 0; k < repeat; k++) {
      try (QRFactorization f = builder.keepQ(true).factorize(rows)) {
        made[k] = f.summary().seconds().factorize();
      }
    }
    double factorize = median(made);
    System.out.printf(Locale.ROOT, "%s: factorize with Q %.3f s%n", problem, factorize);
    try (QRFactorization f = builder.keepQ(true).factorize(rows)) {
      for (int width : WIDTHS) {
        var c = new double[width][];
        for (int k = 0; k < width; k++) {
          c[k] = new Random(k).doubles(f.rank(), -1, 1).toArray();
        }
        JavaRDD<double[]> y = f.applyQ(c).persist(StorageLevel.MEMORY_AND_DISK());
        tell("Q", width, factorize, repeat, () -> f.applyQ(c).unpersist(true));
        tell("Q'", width, factorize, repeat, () -> f.applyQTransposed(y));
        tell("solve", width, factorize, repeat, () -> f.solve(y));
        y.unpersist(true);
      }
      tell("criteria", 16, factorize, 1, () -> f.criteria(16));
      System.out.print(f.criteria(16));
    }
  }

  private static void tell(
      String what, int width, double factorize, int repeat, Supplier<Object> action) {
    double[] seconds = new double[repeat];
    for (int k = 0; k < repeat; k++) {
      long begin = System.nanoTime();
      if (action.get() == null) {
        throw new IllegalStateException(what);
      }
      seconds[k] = (System.nanoTime() - begin) * 1e-9;
    }
    double median = median(seconds);
    System.out.printf(
        Locale.ROOT,
        "  %-8s %2d vectors %.3f s, %.3f of the factorization%n",
        what,
        width,
        median,
        median / factorize);
  }

  private static double median(double[] seconds) {
    double[] sorted = seconds.clone();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }
}
