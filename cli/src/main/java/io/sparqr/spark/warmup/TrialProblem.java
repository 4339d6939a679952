/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.warmup;

import io.sparqr.backend.BackendChoice;
import io.sparqr.matrix.DenseMatrix;
import io.sparqr.matrix.gallery.DefaultRightHandSide;
import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.spark.engine.Engine;
import io.sparqr.spark.engine.Foreground;
import io.sparqr.spark.exchange.Exchange;
import io.sparqr.spark.factorization.FactorState;
import io.sparqr.spark.file.RowSlice;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.pipeline.Pipeline;
import io.sparqr.spark.plan.SolveOptions;
import io.sparqr.spark.report.ProgressListener;
import io.sparqr.spark.rows.RowSource;
import io.sparqr.sparse.CsrMatrix;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.IntStream;
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

  /** From this heap and number of processors on there are larger problems, too. */
  private static final long LARGE_HEAP = 3L << 30;

  private static final int LARGE_PROCESSORS = 4;

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

  /**
   * Large enough for what is done on several threads: dissection, the pattern's tables, uploads.
   * 400,000 nonzeros, 300 MB while one is solved.
   */
  private static final List<String> LARGE = List.of("grad3d32", "onehot60000x2000x300");

  /** From this heap and number of processors on the later rounds are of other problems. */
  private static final long LATER_HEAP = 16L << 30;

  private static final int LATER_PROCESSORS = 8;

  /**
   * Of the size of a user's: with smaller ones, half of a first solve's loops are compiled again.
   * The last has dense fronts, at which minimum degree and dissection take other branches. 2
   * million nonzeros, 1 GB while one is solved.
   */
  private static final List<String> LATER =
      List.of("grad3d64", "onehot60000x2000x300", "nug15:rand");

  /** As above, for a host's cores, which take ten times as long for the factorization. */
  private static final List<String> LATER_ON_HOST =
      List.of("grad3d48", "onehot60000x2000x300", "nug8:rand");

  private static final int SMALL_NONZEROS = 100_000;

  /** Of the problems, those that a device factorizes too. */
  private static final List<String> DEVICE =
      List.of("cells3d10", "nug6:rand", "grad3d16", "grad3d32", "onehot60000x2000x300");

  /**
   * The problems.
   *
   * @param device whether to solve some of them on the first device, too
   */
  static List<TrialProblem> list(boolean device) {
    return list(device, SPECS);
  }

  /** The larger ones; none on a small machine. */
  static List<TrialProblem> large(boolean device) {
    return room(LARGE_HEAP, LARGE_PROCESSORS) ? list(device, LARGE) : List.of();
  }

  /**
   * Those of the later rounds, for the backend that solves of their size use; none: the same again.
   *
   * @param device whether that is a device
   */
  static List<TrialProblem> later(boolean device) {
    if (!room(LATER_HEAP, LATER_PROCESSORS)) {
      return List.of();
    }
    BackendChoice backend = device ? BackendChoice.REQUIRE_CUDA : BackendChoice.CPU;
    return (device ? LATER : LATER_ON_HOST)
        .stream().map(spec -> of(Gallery.generate(spec), order(spec), backend)).toList();
  }

  private static boolean room(long heap, int processors) {
    Runtime r = Runtime.getRuntime();
    return r.maxMemory() >= heap && r.availableProcessors() >= processors;
  }

  private static List<TrialProblem> list(boolean device, List<String> specs) {
    List<TrialProblem> made = new ArrayList<>();
    for (String spec : specs) {
      CsrMatrix a = Gallery.generate(spec);
      OrderingMethod order = order(spec);
      made.add(of(a, order, BackendChoice.CPU));
      if (device && DEVICE.contains(spec)) {
        made.add(of(a, order, BackendChoice.REQUIRE_CUDA));
      }
    }
    return made;
  }

  private static OrderingMethod order(String spec) {
    return spec.startsWith("grad") ? OrderingMethod.NESTED_DISSECTION : OrderingMethod.AUTO;
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
    solve(RowSource.local(PARTITIONS, p -> slice(p, PARTITIONS).iterator()));
  }

  /** Solves it by Spark: from this JVM's memory if the tasks run there. */
  void solve(JavaSparkContext context) {
    run(context, this::solve);
  }

  /** Solves by a factorization that keeps R, whose rows are shuffled. */
  void factorize(JavaSparkContext context) {
    run(context, this::factorize);
  }

  /** Whether a solve is so short that a second one hardly counts. */
  boolean isSmall() {
    return a.nonzeros() <= SMALL_NONZEROS;
  }

  private void run(JavaSparkContext context, Consumer<RowSource> work) {
    Engine engine = Engine.of(context);
    Optional<Exchange> shared = Exchange.of(engine);
    if (shared.isEmpty()) {
      List<SparseRow> rows = new ArrayList<>();
      slice(0, 1).forEach(rows::add);
      work.accept(RowSource.of(context.parallelize(rows, PARTITIONS)));
      return;
    }
    int parts = engine.parallelism();
    List<Integer> numbers = IntStream.range(0, parts).boxed().toList();
    try (Exchange here = shared.get()) {
      here.put(0, this);
      work.accept(
          RowSource.of(
              context
                  .parallelize(numbers, parts)
                  .flatMap(p -> here.get(0, TrialProblem.class).slice(p, parts).iterator())));
    }
  }

  private void solve(RowSource rows) {
    Foreground.aside(() -> Pipeline.solve(rows, options, ProgressListener.NONE));
  }

  private void factorize(RowSource rows) {
    Foreground.aside(
        () -> {
          try (FactorState f = Pipeline.factorize(rows, options, ProgressListener.NONE)) {
            f.solve();
          }
        });
  }

  private RowSlice slice(int part, int parts) {
    int m = a.rows();
    int first = (int) ((long) m * part / parts);
    return RowSlice.shared(a, b, first, (int) ((long) m * (part + 1) / parts));
  }
}
