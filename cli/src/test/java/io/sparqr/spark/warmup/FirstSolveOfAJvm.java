/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.warmup;

import io.sparqr.matrix.DenseMatrix;
import io.sparqr.matrix.gallery.DefaultRightHandSide;
import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.spark.GpuSparseQR;
import io.sparqr.spark.SparseQRSolver;
import io.sparqr.spark.file.RowSlice;
import io.sparqr.spark.ml.SparseQRRegression;
import io.sparqr.spark.pipeline.Pipeline;
import io.sparqr.spark.plan.SolveOptions;
import io.sparqr.spark.report.LeastSquaresSolution;
import io.sparqr.spark.report.ProgressListener;
import io.sparqr.spark.rows.RowSource;
import io.sparqr.sparse.CsrMatrix;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * A program that starts Spark with the given plugins, makes a solver and an estimator, and solves a
 * problem without Spark. It prints the names of our threads before the solve, how the warm-up ended
 * (or none), a hash of the bits of x, and our threads that are left, but for those that help with
 * loops and end by themselves.
 */
final class FirstSolveOfAJvm {

  private FirstSolveOfAJvm() {}

  public static void main(String[] args) {
    SparkConf conf =
        new SparkConf()
            .setMaster("local[2]")
            .setAppName("first solve")
            .set("spark.ui.enabled", "false")
            .set("spark.driver.host", "127.0.0.1")
            .set("spark.driver.bindAddress", "127.0.0.1");
    if (!args[0].isEmpty()) {
      conf.set("spark.plugins", args[0]);
    }
    JavaSparkContext context = new JavaSparkContext(conf);
    SparseQRSolver solver = GpuSparseQR.builder().build();
    SparseQRRegression estimator = new SparseQRRegression();
    System.out.println("threads before " + ours());
    CsrMatrix a = Gallery.generate("cells2d100");
    var b = new DenseMatrix(a.rows(), 1, DefaultRightHandSide.of(a));
    RowSource rows = RowSource.local(1, p -> RowSlice.shared(a, b, 0, a.rows()).iterator());
    LeastSquaresSolution x = Pipeline.solve(rows, SolveOptions.defaults(), ProgressListener.NONE);
    Optional<Warmup> warmup = Warmup.last();
    warmup.ifPresent(w -> w.await(60));
    System.out.println("warm-up " + warmup.map(w -> w.outcome().end()).orElse("none"));
    System.out.println(Arrays.hashCode(x.x()));
    context.close();
    System.out.println(
        "threads after " + ours().stream().filter(t -> !t.startsWith("sparqr-host")).toList());
    System.exit(solver == null || estimator == null ? 1 : 0);
  }

  private static List<String> ours() {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .filter(name -> name.startsWith("sparqr"))
        .sorted()
        .toList();
  }
}
