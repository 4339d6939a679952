/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import io.sparqr.partition.PartitionOptions;
import io.sparqr.partition.ResourceModel;
import io.sparqr.partition.SubtreeTask;
import io.sparqr.partition.TreePartition;
import io.sparqr.partition.TreePartitioner;
import io.sparqr.spark.SolveReport;
import io.sparqr.spark.SparseRow;
import io.sparqr.sparse.SparsityPattern;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code sparqr analyze}: the symbolic analysis alone, nothing is factorized. */
@Command(
    name = "analyze",
    description = "Shows what a factorization would cost: the symbolic analysis alone.",
    versionProvider = SparqrCli.Version.class,
    mixinStandardHelpOptions = true,
    sortOptions = false)
final class AnalyzeCommand implements Callable<Integer> {

  /** What a CPU executor is taken to do on large fronts; only ratios of the result depend on it. */
  private static final double EXECUTOR_FLOPS = 3e10;

  @Spec private CommandSpec spec;

  @Mixin private MatrixOptions input;

  @Override
  public Integer call() throws IOException {
    input.check();
    MatrixFormat format = MatrixFormat.of(input.matrix);
    SparsityPattern pattern =
        format == MatrixFormat.PARQUET || format == MatrixFormat.CSV
            ? tablePattern(format)
            : filePattern(format);
    SymbolicOptions options = SymbolicOptions.defaults().withOrdering(input.ordering);
    SymbolicAnalysis analysis = SymbolicAnalyzer.analyze(pattern, options);
    PrintWriter out = spec.commandLine().getOut();
    print(out, analysis, pattern);
    out.flush();
    return 0;
  }

  private SparsityPattern filePattern(MatrixFormat format) throws IOException {
    var a = LocalProblem.readMatrix(input.matrix, format);
    a = input.transpose ? a.transpose() : a;
    LocalProblem.requireShape(input.matrix, a.rows(), a.columns());
    return a.pattern();
  }

  private SparsityPattern tablePattern(MatrixFormat format) {
    try (SparkHandle spark = new SparkHandle(input.master, input.executors);
        TripletRows rows =
            new TripletRows(
                spark.session(),
                input.matrix,
                format,
                input.transpose,
                null,
                Math.max(input.partitions, spark.context().defaultParallelism()))) {
      List<SparseRow> all = rows.rows().collect();
      long[] start = new long[all.size() + 1];
      for (int i = 0; i < all.size(); i++) {
        start[i + 1] = start[i] + all.get(i).indices().length;
      }
      int[] index = new int[Math.toIntExact(start[all.size()])];
      for (int i = 0; i < all.size(); i++) {
        int[] row = all.get(i).indices();
        System.arraycopy(row, 0, index, (int) start[i], row.length);
      }
      long[] one = new long[all.size()];
      Arrays.fill(one, 1);
      return new SparsityPattern(rows.columns(), start, index, one);
    }
  }

  private void print(PrintWriter out, SymbolicAnalysis s, SparsityPattern pattern) {
    TreeStatistics t = TreeStatistics.of(s, pattern);
    line(out, "matrix", "%,d x %,d, %,d nonzeros", s.rows(), s.columns(), s.nonzeros());
    line(out, "ordering", "%s (%s)", s.orderingUsed(), s.orderingReason());
    line(
        out,
        "seconds",
        "order %.2f, analyze %.2f",
        s.data().orderSeconds(),
        s.data().analyzeSeconds());
    line(out, "singletons", "%,d columns, %,d empty rows", s.singletons(), s.emptyRows());
    line(out, "nnz(R)", "%,d (%s)", t.nnzR(), bytes(8 * t.nnzR()));
    line(out, "flops", "%s", SolveReport.work(s.flops()));
    line(out, "tree", "%,d fronts, %,d root(s), depth %,d", s.fronts(), roots(s), t.depth());
    if (t.largestFront() >= 0) {
      int f = t.largestFront();
      line(out, "largest", "front %,d x %,d, %,d pivots", s.fm(f), s.fn(f), s.fp(f));
    }
    line(
        out,
        "critical",
        "path of %s, %.0f%% of all: at most %.1f times faster on many executors",
        SolveReport.work(t.criticalFlops()),
        100 * t.criticalFlops() / Math.max(1, s.flops()),
        s.flops() / Math.max(1, t.criticalFlops()));
    line(out, "memory", "%s at once in one task, beside R", bytes(t.peakBytes()));
    out.println();
    histogram(out, t, s.flops());
    out.println();
    partition(out, s);
  }

  private static void histogram(PrintWriter out, TreeStatistics t, double flops) {
    out.printf(Locale.ROOT, "%-16s %10s %14s %7s%n", "front columns", "fronts", "flops", "share");
    int from = 1;
    for (TreeStatistics.Bucket b : t.histogram()) {
      if (b.fronts() > 0) {
        String range =
            b.columns() == Integer.MAX_VALUE ? from + " and more" : from + " to " + b.columns();
        out.printf(
            Locale.ROOT,
            "%-16s %,10d %14s %6.1f%%%n",
            range,
            b.fronts(),
            SolveReport.work(b.flops()),
            100 * b.flops() / Math.max(1, flops));
      }
      from = b.columns() + 1;
    }
  }

  private void partition(PrintWriter out, SymbolicAnalysis s) {
    int executors = Math.max(1, input.executors);
    long memory = Runtime.getRuntime().maxMemory();
    TreePartition cut =
        TreePartitioner.partition(
            s,
            ResourceModel.uniform(executors, EXECUTOR_FLOPS, memory),
            PartitionOptions.defaults());
    out.printf(
        Locale.ROOT,
        "over %d executor(s) of %s/s: %d subtree tasks in %d level(s), about %.2f s, not under %.2f s%n",
        executors,
        SolveReport.work(EXECUTOR_FLOPS),
        cut.tasks().size(),
        cut.levels(),
        cut.estimatedSeconds(),
        cut.lowerBoundSeconds());
    for (int level = 0; level < cut.levels(); level++) {
      List<SubtreeTask> tasks = cut.level(level);
      double flops = tasks.stream().mapToDouble(SubtreeTask::flops).sum();
      double most = tasks.stream().mapToDouble(SubtreeTask::flops).max().orElse(0);
      long fronts = tasks.stream().mapToLong(k -> k.fronts().length).sum();
      long peak = tasks.stream().mapToLong(SubtreeTask::peakBytes).max().orElse(0);
      out.printf(
          Locale.ROOT,
          "  level %d: %d tasks, %,d fronts, %s, largest task %s, %s%n",
          level + 1,
          tasks.size(),
          fronts,
          SolveReport.work(flops),
          SolveReport.work(most),
          bytes(peak));
    }
  }

  private static int roots(SymbolicAnalysis s) {
    return s.childCount(s.fronts());
  }

  private static void line(PrintWriter out, String key, String format, Object... values) {
    out.printf(Locale.ROOT, "%-10s %s%n", key, String.format(Locale.ROOT, format, values));
  }

  private static String bytes(long count) {
    String[] unit = {"B", "kB", "MB", "GB", "TB"};
    int u = 0;
    double b = count;
    while (b >= 1000 && u < unit.length - 1) {
      b /= 1000;
      u++;
    }
    return String.format(Locale.ROOT, u == 0 ? "%.0f %s" : "%.1f %s", b, unit[u]);
  }
}
