/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.warmup;

import io.sparqr.matrix.DenseMatrix;
import io.sparqr.matrix.gallery.DefaultRightHandSide;
import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.spark.file.RowSlice;
import io.sparqr.spark.pipeline.Pipeline;
import io.sparqr.spark.plan.SolveOptions;
import io.sparqr.spark.report.LeastSquaresSolution;
import io.sparqr.spark.report.ProgressListener;
import io.sparqr.spark.rows.RowSource;
import io.sparqr.sparse.CsrMatrix;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * A program that solves a problem without Spark, and prints how the warm-up beside it ended (or
 * none), a hash of the bits of x, and the names of the warm-up's threads that are left.
 */
final class FirstSolveOfAJvm {

  private FirstSolveOfAJvm() {}

  public static void main(String[] args) {
    CsrMatrix a = Gallery.generate("cells2d100");
    var b = new DenseMatrix(a.rows(), 1, DefaultRightHandSide.of(a));
    RowSource rows = RowSource.local(1, p -> RowSlice.shared(a, b, 0, a.rows()).iterator());
    LeastSquaresSolution x = Pipeline.solve(rows, SolveOptions.defaults(), ProgressListener.NONE);
    Optional<Warmup> beside = Warmup.last();
    beside.ifPresent(w -> w.await(60));
    System.out.println(beside.map(w -> w.outcome().end()).orElse("none"));
    System.out.println(Arrays.hashCode(x.x()));
    List<String> left =
        Thread.getAllStackTraces().keySet().stream()
            .map(Thread::getName)
            .filter(name -> name.equals("sparqr-warmup") || name.equals("sparqr-device"))
            .toList();
    System.out.println(left);
    System.exit(0);
  }
}
