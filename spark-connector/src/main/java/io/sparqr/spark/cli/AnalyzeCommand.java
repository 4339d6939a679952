/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import io.sparqr.partition.DeviceModel;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.partition.ResourceModel;
import io.sparqr.partition.SubtreeTask;
import io.sparqr.partition.TreePartition;
import io.sparqr.partition.TreePartitioner;
import io.sparqr.partition.WhatIf;
import io.sparqr.spark.SparseRow;
import io.sparqr.sparse.SparsityPattern;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import io.sparqr.symbolic.SymbolicSummary;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code sparqr analyze}: the symbolic analysis alone, nothing is factorized. */
@Command(
    name = "analyze",
    description = "Shows what a factorization would cost: the symbolic analysis alone.",
    versionProvider = SparqrCli.Version.class,
    mixinStandardHelpOptions = true,
    sortOptions = false)
final class AnalyzeCommand implements Callable<Integer> {

  private static final int[] COUNTS = {1, 2, 4, 8, 16};

  @Spec private CommandSpec spec;

  @Mixin private MatrixOptions input;

  @Option(
      names = "--gpu",
      description = "for executors with a GPU: auto searches less for a column order then")
  private boolean gpu;

  @Override
  public Integer call() throws IOException {
    input.check();
    MatrixFormat format = input.format();
    SparsityPattern pattern =
        format == MatrixFormat.PARQUET || format == MatrixFormat.CSV
            ? tablePattern(format)
            : filePattern(format);
    SymbolicOptions options = SymbolicOptions.defaults().withOrdering(input.ordering);
    if (gpu) {
      options = options.withRate((flops, intensity) -> device().flopsPerSecond(intensity));
    }
    SymbolicAnalysis analysis = SymbolicAnalyzer.analyze(pattern, options);
    PrintWriter out = spec.commandLine().getOut();
    print(out, analysis);
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
                input.table(format),
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

  private void print(PrintWriter out, SymbolicAnalysis s) {
    out.println(SymbolicSummary.of(s, 1));
    partition(out, s);
    out.println();
    whatIf(out, s, worker());
    out.println();
    out.println("with a GPU each, like an H200:");
    whatIf(out, s, device());
  }

  private static void whatIf(PrintWriter out, SymbolicAnalysis s, ResourceModel.Worker like) {
    double network = ResourceModel.NETWORK;
    double level = ResourceModel.LEVEL_SECONDS;
    out.print(WhatIf.of(s, like, network, level, PartitionOptions.defaults(), COUNTS));
  }

  private static ResourceModel.Worker worker() {
    return ResourceModel.Worker.cpu(
        "executor", ResourceModel.EXECUTOR_FLOPS, Runtime.getRuntime().maxMemory());
  }

  private static ResourceModel.Worker device() {
    return ResourceModel.Worker.gpu("executor", DeviceModel.reference());
  }

  private void partition(PrintWriter out, SymbolicAnalysis s) {
    int executors = Math.max(1, input.executors);
    long memory = worker().memoryBytes();
    TreePartition cut =
        TreePartitioner.partition(
            s,
            ResourceModel.uniform(executors, ResourceModel.EXECUTOR_FLOPS, memory),
            PartitionOptions.defaults());
    out.printf(
        Locale.ROOT,
        "over %d executor(s) of %s/s: %d subtree tasks in %d level(s), about %.2f s, not under %.2f s%n",
        executors,
        SymbolicSummary.flopsText(ResourceModel.EXECUTOR_FLOPS),
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
          SymbolicSummary.flopsText(flops),
          SymbolicSummary.flopsText(most),
          SymbolicSummary.bytesText(peak));
    }
  }
}
