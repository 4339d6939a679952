/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import io.sparqr.backend.BackendChoice;
import io.sparqr.matrix.DenseMatrix;
import io.sparqr.matrix.gallery.DefaultRightHandSide;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.spark.BenchmarkSpark;
import io.sparqr.spark.GpuSparseQR;
import io.sparqr.spark.QRFactorization;
import io.sparqr.spark.input.DriverRows;
import io.sparqr.spark.input.LocalProblem;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.report.LeastSquaresSolution;
import io.sparqr.spark.report.SolveReport;
import io.sparqr.spark.warmup.Warmup;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.Locale;
import java.util.function.Supplier;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.storage.StorageLevel;

/**
 * Seconds from rows in memory to x on the driver, in local Spark or under {@code -Dspeed.master}
 * (of a local cluster, executors with {@code -Dexecutor.memory}, 12g): whole solves, the same with
 * the analysis given, that with R kept until the end, and a solve of a kept factorization for
 * right-hand sides never seen before. {@code SolveSpeed BACKEND REPEAT PROBLEM...}; a problem is
 * {@code SPEC@ORDERING}, or {@code SPEC@ORDERING@LEVELS} for a tree cut into tasks of at least so
 * many levels. Prints the first run, the median of all, the least, and of the last run its phases,
 * the MB over PCIe up and down, the MB that all threads allocated on the heap, and the seconds of
 * garbage collection. All ways must give the same x up to rounding.
 */
public final class SolveSpeed {

  private SolveSpeed() {}

  /** Local Spark, or a local cluster; executors with {@code -Dexecutor.memory} or the default. */
  static SparkConf conf(String master, String executorMemory) {
    return BenchmarkSpark.cluster(master, "sparqr speed", executorMemory)
        .set("spark.rpc.message.maxSize", "1024");
  }

  /** See the class. */
  public static void main(String[] args) {
    var backend = BackendChoice.valueOf(args[0].toUpperCase(Locale.ROOT));
    int repeat = Integer.parseInt(args[1]);
    SparkConf conf = conf(System.getProperty("speed.master", "local[*]"), "12g");
    try (JavaSparkContext context = new JavaSparkContext(conf)) {
      context.setLogLevel("ERROR");
      // of -Dspark.plugins=io.sparqr.spark.metrics.SparqrPlugin: the compiler, too, is to be done
      Warmup.last().ifPresent(w -> w.await(600));
      for (String problem : Arrays.asList(args).subList(2, args.length)) {
        String[] part = problem.split("@");
        CsrMatrix a = LocalProblem.generate("gen:" + part[0]);
        var labeled = new LocalProblem(a, new DenseMatrix(a.rows(), 1, DefaultRightHandSide.of(a)));
        try (var rows = new DriverRows(context, labeled, context.defaultParallelism())) {
          measure(problem, rows.rows(), builder(backend, part), repeat);
        }
      }
    }
  }

  private static GpuSparseQR.Builder builder(BackendChoice backend, String[] part) {
    String order = part.length > 1 ? part[1] : "auto";
    OrderingMethod method =
        Arrays.stream(OrderingMethod.values())
            .filter(m -> m.label().equals(order))
            .findFirst()
            .orElseThrow();
    GpuSparseQR.Builder builder = GpuSparseQR.builder().backend(backend).ordering(method);
    if (part.length < 3) {
      return builder;
    }
    int levels = Integer.parseInt(part[2]);
    return builder.partitionOptions(new PartitionOptions(2, Math.max(4, levels), levels, 2e8));
  }

  private static void measure(
      String name, JavaRDD<SparseRow> rows, GpuSparseQR.Builder builder, int repeat) {
    LeastSquaresSolution whole = timed(name, "whole", repeat, () -> builder.solve(rows));
    // in memory, as a caller has them: each run would make all rows for them otherwise
    JavaRDD<double[]> other =
        rows.map(r -> new double[] {2 * r.labels()[0]}).persist(StorageLevel.MEMORY_ONLY());
    other.count();
    SymbolicAnalysis analysis;
    try (QRFactorization f = builder.factorize(rows)) {
      analysis = f.analysis();
      LeastSquaresSolution twice = timed(name, "new right-hand side", repeat, () -> f.solve(other));
      requireSame(whole, twice, 2);
    }
    other.unpersist();
    var given = builder.analysis(analysis);
    LeastSquaresSolution known = timed(name, "analysis given", repeat, () -> given.solve(rows));
    requireSame(whole, known, 1);
    LeastSquaresSolution kept =
        timed(name, "analysis given, R kept", repeat, () -> keptAndSolved(given, rows));
    requireSame(whole, kept, 1);
  }

  private static LeastSquaresSolution keptAndSolved(
      GpuSparseQR.Builder builder, JavaRDD<SparseRow> rows) {
    try (QRFactorization f = builder.factorize(rows)) {
      return f.solve();
    }
  }

  private static LeastSquaresSolution timed(
      String name, String what, int repeat, Supplier<LeastSquaresSolution> run) {
    double[] seconds = new double[repeat];
    LeastSquaresSolution last = null;
    long allocated = 0;
    long collected = 0;
    for (int k = 0; k < repeat; k++) {
      allocated = -allocatedBytes();
      collected = -collectionMillis();
      long begin = System.nanoTime();
      last = run.get();
      seconds[k] = (System.nanoTime() - begin) * 1e-9;
      allocated += allocatedBytes();
      collected += collectionMillis();
    }
    double first = seconds[0];
    Arrays.sort(seconds);
    SolveReport.Seconds s = last.report().seconds();
    System.out.printf(
        Locale.ROOT,
        "%s | %s | first %.2f, median %.3f, least %.3f | pattern %.3f order %.3f analyze %.3f plan"
            + " %.3f rows %.3f factorize %.3f solve %.3f | up %.0f down %.0f heap %.0f MB, gc %.3f s%n",
        name,
        what,
        first,
        seconds[(repeat - 1) / 2],
        seconds[0],
        s.pattern(),
        s.order(),
        s.analyze(),
        s.plan(),
        s.assemble(),
        s.factorize(),
        s.solve(),
        last.report().traffic().h2dBytes() * 1e-6,
        last.report().traffic().d2hBytes() * 1e-6,
        allocated * 1e-6,
        collected * 1e-3);
    return last;
  }

  /** By the threads that are alive now, since their beginnings: those of Spark's pools all are. */
  private static long allocatedBytes() {
    var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
    return Arrays.stream(threads.getThreadAllocatedBytes(threads.getAllThreadIds())).sum();
  }

  private static long collectionMillis() {
    return ManagementFactory.getGarbageCollectorMXBeans().stream()
        .mapToLong(GarbageCollectorMXBean::getCollectionTime)
        .sum();
  }

  private static void requireSame(LeastSquaresSolution x, LeastSquaresSolution y, double times) {
    double norm = 0;
    double difference = 0;
    for (int j = 0; j < x.x().length; j++) {
      norm = Math.hypot(norm, times * x.x()[j]);
      difference = Math.hypot(difference, times * x.x()[j] - y.x()[j]);
    }
    if (!(difference <= 1e-8 * norm)) {
      throw new IllegalStateException("x differs by " + difference / norm);
    }
  }
}
