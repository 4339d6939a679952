/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import io.sparqr.backend.BackendChoice;
import io.sparqr.partition.DeviceModel;
import io.sparqr.partition.EqualExecutors;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.partition.PayingSizes;
import io.sparqr.partition.PayingWorkers;
import io.sparqr.partition.ResourceModel;
import io.sparqr.partition.TreePartition;
import io.sparqr.partition.WhatIf;
import io.sparqr.spark.input.LocalProblem;
import io.sparqr.spark.input.MatrixFormat;
import io.sparqr.spark.input.TripletRows;
import io.sparqr.spark.input.UsageException;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.pipeline.Pipeline;
import io.sparqr.spark.plan.DeviceVerdict;
import io.sparqr.spark.plan.SolveOption;
import io.sparqr.spark.report.Advice;
import io.sparqr.spark.report.AnalysisReport;
import io.sparqr.spark.report.RunRecord;
import io.sparqr.sparse.SparsityPattern;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import io.sparqr.symbolic.SymbolicSummary;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code sparqr analyze}: the symbolic analysis without a factorization. */
@Command(
    name = "analyze",
    description = "Shows what a factorization would cost: the symbolic analysis alone.",
    versionProvider = CliVersion.class,
    mixinStandardHelpOptions = true,
    modelTransformer = OptionFlags.OfAnalysis.class,
    sortOptions = false)
final class AnalyzeCommand implements Callable<Integer> {

  /** The tables go at least so far. */
  private static final int LEAST_COUNT = 16;

  /** And up to so many executors where sizes are asked for. */
  private static final int SIMULATED = 1000;

  /** Most executors, and devices of one. */
  private static final int MOST = 100_000;

  @Spec private CommandSpec spec;

  @Mixin private MatrixOptions input;

  @Option(
      names = "--gpu",
      description = "for executors with a GPU: auto searches less for a column order then")
  private boolean gpu;

  @Option(
      names = "--devices",
      paramLabel = "K",
      description =
          "GPUs of each executor, for which the tree is cut then; default: none, and one in the"
              + " table of executors with GPUs")
  private int devices;

  @Option(
      names = "--simulate",
      description =
          "also tells from which size of problem on each number of executors up to 1000 pays, which"
              + " cuts the tree some hundred times")
  private boolean simulate;

  @Mixin private ReportOptions output;

  private double readSeconds;

  @Override
  public Integer call() throws IOException {
    input.check();
    if (spec.commandLine().getParseResult().hasMatchedOption("--devices")
        && (devices < 1 || devices > MOST)) {
      throw new UsageException("--devices " + devices + ": 1 to 100,000 GPUs an executor");
    }
    output.check(null);
    gpu |= devices > 0;
    long begin = System.nanoTime();
    try {
      return run(begin);
    } catch (UsageException e) {
      throw e;
    } catch (Throwable e) {
      output
          .writeFailed(e, readSeconds, secondsSince(begin))
          .ifPresent(spec.commandLine().getErr()::println);
      throw e;
    }
  }

  private int run(long begin) throws IOException {
    MatrixFormat format = input.format();
    SparsityPattern pattern =
        format == MatrixFormat.PARQUET || format == MatrixFormat.CSV
            ? tablePattern(format)
            : filePattern(format);
    readSeconds = secondsSince(begin);
    output.failed.analyzing();
    SymbolicOptions options =
        SymbolicOptions.defaults().withOrdering(OptionFlags.value(spec, SolveOption.ORDERING));
    if (gpu) {
      options = options.withRate((flops, intensity) -> device().flopsPerSecond(intensity));
    }
    AnalysisReport found = report(SymbolicAnalyzer.analyze(pattern, options), pattern, begin);
    output.failed.writing();
    try (Outputs outputs = output.outputs()) {
      output.add(outputs, found);
      outputs.commit();
    } finally {
      PrintWriter out = spec.commandLine().getOut();
      out.print(found.toText());
      out.flush();
    }
    return 0;
  }

  private AnalysisReport report(SymbolicAnalysis analysis, SparsityPattern pattern, long begin) {
    long planning = System.nanoTime();
    int executors = Math.max(1, input.executors());
    int each = Math.max(1, devices);
    var processors = new EqualExecutors(worker(), 0);
    var withDevices = new EqualExecutors(device(), each);
    EqualExecutors like = devices > 0 ? withDevices : processors;
    PartitionOptions options = PartitionOptions.defaults();
    boolean none = analysis.fronts() == 0;
    TreePartition cut =
        none
            ? new TreePartition(List.of(), 0, new int[0], 0, 0)
            : like.forecast(analysis, options, executors).partition();
    int[] counts = counts(executors);
    WhatIf onProcessors = processors.whatIf(analysis, options, counts);
    WhatIf onDevices = withDevices.whatIf(analysis, options, counts);
    SymbolicSummary summary = SymbolicSummary.of(analysis, 1);
    return new AnalysisReport(
        summary,
        executors(analysis, like, executors),
        cut,
        like.boundSeconds(analysis, executors),
        backend(analysis),
        new AnalysisReport.Elsewhere(onProcessors, onDevices, each, sizes(analysis, like)),
        gpu ? advice(summary, onDevices, pattern) : advice(summary, cut, pattern),
        new AnalysisReport.Seconds(
            readSeconds,
            analysis.data().orderSeconds(),
            analysis.data().analyzeSeconds(),
            secondsSince(planning),
            secondsSince(begin)),
        RunRecord.here(secondsSince(begin)).withInput(input.matrix));
  }

  /** 1, 2, 4, 8, 16, and on to the number that was asked for, which is one of them. */
  private static int[] counts(int executors) {
    return IntStream.concat(
            Arrays.stream(PayingSizes.counts(Math.max(LEAST_COUNT, executors))),
            IntStream.of(executors))
        .sorted()
        .distinct()
        .toArray();
  }

  /** How many a solve on such a cluster would use. */
  private static AnalysisReport.Executors executors(
      SymbolicAnalysis analysis, EqualExecutors like, int executors) {
    if (analysis.fronts() == 0 || executors == 1) {
      return new AnalysisReport.Executors(executors, like.devices(), 1, "");
    }
    PayingWorkers.Choice choice = like.paying(analysis, PartitionOptions.defaults(), executors);
    return new AnalysisReport.Executors(
        executors, like.devices(), choice.workers(), choice.reason());
  }

  private Optional<PayingSizes> sizes(SymbolicAnalysis analysis, EqualExecutors like) {
    if (!simulate) {
      return Optional.empty();
    }
    int[] counts = PayingSizes.counts(Math.max(SIMULATED, input.executors()));
    return Optional.of(like.sizes(analysis, PartitionOptions.defaults(), counts));
  }

  private static Advice advice(
      SymbolicSummary summary, TreePartition cut, SparsityPattern pattern) {
    return Advice.of(
        summary,
        cut.estimatedSeconds(),
        AnalysisReport.executorBytes(cut),
        worker().memoryBytes(),
        Advice.effectColumns(pattern));
  }

  /** For executors with a GPU, to whose memory the stages of a task are made to fit. */
  private static Advice advice(SymbolicSummary summary, WhatIf table, SparsityPattern pattern) {
    double seconds = table.lines().isEmpty() ? 0 : table.lines().get(0).seconds();
    return Advice.of(summary, seconds, 0, worker().memoryBytes(), Advice.effectColumns(pattern));
  }

  /**
   * The backend on this machine or, for executors with a GPU, on those. Nothing is known about the
   * latter, so the threshold alone decides.
   */
  private AnalysisReport.Backend backend(SymbolicAnalysis analysis) {
    DeviceVerdict verdict = Pipeline.foretold(BackendChoice.AUTO, !gpu, analysis);
    return new AnalysisReport.Backend(verdict.use() ? "cuda" : "cpu", verdict.reason());
  }

  private SparsityPattern filePattern(MatrixFormat format) throws IOException {
    var a = LocalProblem.readMatrix(input.source(format));
    a = input.transpose ? a.transpose() : a;
    LocalProblem.requireShape(input.matrix, a.rows(), a.columns());
    return a.pattern();
  }

  private SparsityPattern tablePattern(MatrixFormat format) {
    try (SparkHandle spark = new SparkHandle(input.master, input.executors());
        TripletRows rows =
            new TripletRows(
                spark.session(),
                input.table(format),
                input.transpose,
                null,
                Math.max(input.partitions(), spark.context().defaultParallelism()))) {
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

  private static ResourceModel.Worker worker() {
    return ResourceModel.Worker.cpu(
        "executor", ResourceModel.EXECUTOR_FLOPS, Runtime.getRuntime().maxMemory());
  }

  private static ResourceModel.Worker device() {
    return ResourceModel.Worker.gpu("executor", DeviceModel.reference());
  }

  private static double secondsSince(long begin) {
    return (System.nanoTime() - begin) * 1e-9;
  }
}
