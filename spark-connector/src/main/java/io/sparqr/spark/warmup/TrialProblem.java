/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.warmup;

import io.sparqr.backend.BackendChoice;
import io.sparqr.matrix.DefaultRightHandSide;
import io.sparqr.matrix.DenseMatrix;
import io.sparqr.matrix.Gallery;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.spark.ProgressListener;
import io.sparqr.spark.SparseRow;
import io.sparqr.spark.file.RowSlice;
import io.sparqr.spark.internal.Pipeline;
import io.sparqr.spark.plan.SolveOptions;
import io.sparqr.spark.resource.Foreground;
import io.sparqr.spark.rows.RowSource;
import io.sparqr.sparse.CsrMatrix;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * A small problem of the warm-up, in this JVM's memory.
 *
 * @param a A, m x n
 * @param b m x 1
 * @param options how to solve it
 */
record TrialProblem(CsrMatrix a, DenseMatrix b, SolveOptions options) {

  private static final int PARTITIONS = 2;

  /**
   * Grids, a regression with many short columns, a program with long fronts; small ones first, so
   * that everything has run once soon. 160,000 nonzeros in all, 30 MB while the largest is solved.
   */
  private static final List<String> SPECS =
      List.of(
          "cells2d20",
          "onehot2000x200x50",
          "grad3d12",
          "cells3d10",
          "nug6:rand",
          "onehot10000x500x100x30",
          "grad3d16");

  /** Of the problems, those that a device factorizes too. */
  private static final List<String> DEVICE = List.of("cells3d10", "nug6:rand", "grad3d16");

  /**
   * The problems.
   *
   * @param device whether to solve some of them on the first device, too
   */
  static List<TrialProblem> list(boolean device) {
    List<TrialProblem> made = new ArrayList<>();
    for (String spec : SPECS) {
      CsrMatrix a = Gallery.generate(spec);
      OrderingMethod order =
          spec.startsWith("grad") ? OrderingMethod.NESTED_DISSECTION : OrderingMethod.AUTO;
      made.add(of(a, order, BackendChoice.CPU));
      if (device && DEVICE.contains(spec)) {
        made.add(of(a, order, BackendChoice.REQUIRE_CUDA));
      }
    }
    return made;
  }

  private static TrialProblem of(CsrMatrix a, OrderingMethod order, BackendChoice backend) {
    var b = new DenseMatrix(a.rows(), 1, DefaultRightHandSide.of(a));
    SolveOptions options = SolveOptions.defaults();
    options =
        options
            .with(
                options.analysis().withSymbolic(options.analysis().symbolic().withOrdering(order)))
            .with(options.factorization().withBackend(backend));
    return new TrialProblem(a, b, options);
  }

  /** Whether it takes a device. */
  boolean onDevice() {
    return options.factorization().backend() == BackendChoice.REQUIRE_CUDA;
  }

  /** Solves it in this JVM, without Spark. */
  void solve() {
    solve(RowSource.local(PARTITIONS, p -> slice(p).iterator()));
  }

  /** Solves it by Spark. */
  void solve(JavaSparkContext context) {
    List<SparseRow> rows = new ArrayList<>();
    for (int p = 0; p < PARTITIONS; p++) {
      slice(p).forEach(rows::add);
    }
    solve(RowSource.of(context.parallelize(rows, PARTITIONS)));
  }

  private void solve(RowSource rows) {
    Foreground.aside(() -> Pipeline.solve(rows, options, ProgressListener.NONE));
  }

  private RowSlice slice(int part) {
    return RowSlice.shared(a, b, a.rows() * part / PARTITIONS, a.rows() * (part + 1) / PARTITIONS);
  }
}
