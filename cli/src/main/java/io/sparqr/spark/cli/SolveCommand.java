/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import io.sparqr.matrix.DenseMatrix;
import io.sparqr.matrix.MatrixMarketWriter;
import io.sparqr.spark.GpuSparseQR;
import io.sparqr.spark.QRFactorization;
import io.sparqr.spark.SparseQRSolver;
import io.sparqr.spark.engine.Engine;
import io.sparqr.spark.engine.JobScope;
import io.sparqr.spark.engine.SparkErrors;
import io.sparqr.spark.file.FileRows;
import io.sparqr.spark.file.Labels;
import io.sparqr.spark.input.DriverRows;
import io.sparqr.spark.input.LocalProblem;
import io.sparqr.spark.input.MatrixFormat;
import io.sparqr.spark.input.Piped;
import io.sparqr.spark.input.Reader;
import io.sparqr.spark.input.RightHandSide;
import io.sparqr.spark.input.TripletRows;
import io.sparqr.spark.input.UsageException;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.pipeline.Pipeline;
import io.sparqr.spark.plan.SolveOption;
import io.sparqr.spark.report.ConsoleProgress;
import io.sparqr.spark.report.LeastSquaresSolution;
import io.sparqr.spark.report.ProgressListener;
import io.sparqr.spark.report.SolveReport;
import io.sparqr.spark.rows.RowSource;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import org.apache.spark.api.java.JavaRDD;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code sparqr solve}: min ||b - A x|| from a file or the gallery. */
@Command(
    name = "solve",
    description = "Solves min ||b - A x||: writes x and a report, prints a summary.",
    versionProvider = CliVersion.class,
    mixinStandardHelpOptions = true,
    modelTransformer = OptionFlags.OfSolve.class,
    sortOptions = false)
final class SolveCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;

  @Mixin private MatrixOptions input;

  @Mixin private ReportOptions output;

  @Option(
      names = "--rhs",
      paramLabel = "FILE",
      description =
          "b, m x k: Matrix Market, text or CSV (a line for each row), .npy, .mat, or a pipe (-);"
              + " default: the labels (libsvm), or A ones + a perturbation")
  private @Nullable String rhs;

  @Option(
      names = "--reader",
      paramLabel = "NAME",
      defaultValue = "auto",
      description =
          "who parses a Matrix Market or libsvm file: ${COMPLETION-CANDIDATES}; auto: on a cluster"
              + " the executors from 64 MB on, in one JVM from an eighth of the heap on, unless the"
              + " file cannot be cut (gzip, array) or is the driver's own (a path without hdfs:, file:)")
  private Reader reader;

  @Option(
      names = "--engine",
      paramLabel = "NAME",
      defaultValue = "auto",
      description =
          "where the tasks run: ${COMPLETION-CANDIDATES}; local: in this JVM without Spark; auto:"
              + " local up to 2,000,000 nonzeros that the driver reads, unless there is a --master, a"
              + " setting of Spark's, or an option that only Spark has")
  private EngineChoice engine;

  @Option(names = "--out", paramLabel = "FILE", description = "x, n x k, Matrix Market array")
  private @Nullable Path out;

  @Option(
      names = "--repeat",
      paramLabel = "K",
      defaultValue = "1",
      description = "K solves in one JVM; the report's seconds are medians of all but the first")
  private int repeat;

  @Option(
      names = "--criteria",
      paramLabel = "K",
      arity = "0..1",
      fallbackValue = "16",
      description =
          "how good A P = Q R is, by K probes (16; exact from n on): norms of A P - Q R, of Q'Q - I"
              + " and of what is left below R's diagonal; keeps Q, takes Spark")
  private @Nullable Integer criteria;

  private double readSeconds;

  @Override
  public Integer call() throws IOException {
    checkArguments();
    long begin = System.nanoTime();
    try {
      return run(begin);
    } catch (UsageException e) {
      throw e;
    } catch (Throwable e) {
      output.writeFailed(e, readSeconds, secondsSince(begin)).ifPresent(why -> progress("%s", why));
      throw e;
    }
  }

  private int run(long begin) throws IOException {
    MatrixFormat format = input.format();
    if (rhs != null) {
      if (!MatrixFormat.exists(rhs)) {
        throw new NoSuchFileException(rhs);
      }
      MatrixFormat.requireFile(rhs);
    }
    boolean local = SparkHandle.local(input.master);
    Reader.Choice choice = reader.choose(input.matrix, format, input.transpose, local);
    boolean split =
        rhs != null
            && choice.executors()
            && format == MatrixFormat.MATRIX_MARKET
            && Reader.splitsRightHandSide(rhs, local);
    DenseMatrix b = rhs == null || split ? null : RightHandSide.read(rhs);
    boolean table = format == MatrixFormat.PARQUET || format == MatrixFormat.CSV;
    LocalProblem problem =
        table || choice.executors() ? null : readHere(format, b, choice.why(), begin);
    readSeconds = secondsSince(begin);
    EngineChoice.Chosen where = engine.choose(onlySpark(format, choice), problem);
    LeastSquaresSolution solution =
        engine.solve(
            where,
            () -> solveHere(Objects.requireNonNull(problem)),
            () -> onSpark(format, problem, b, split),
            chosen -> output.failed.solving(chosen.reason()));
    SolveReport result =
        solution
            .report()
            .withReadSeconds(readSeconds)
            .withEngineReason(output.failed.engineReason())
            .withInput(input.matrix);
    output.failed.writing();
    try {
      write(solution, result);
    } finally {
      PrintWriter summary = spec.commandLine().getOut();
      summary.print(result.toText());
      summary.flush();
    }
    return 0;
  }

  /** The first requested option that requires Spark. */
  private Optional<String> onlySpark(MatrixFormat format, Reader.Choice choice) {
    if (input.master != null) {
      return Optional.of("--master is given");
    }
    if (format == MatrixFormat.PARQUET || format == MatrixFormat.CSV) {
      return Optional.of("Spark reads tables");
    }
    if (choice.executors()) {
      return Optional.of("the executors read the file");
    }
    if (criteria != null) {
      return Optional.of("--criteria takes Spark");
    }
    if (OptionFlags.given(spec, SolveOption.MINIMUM_NORM).isPresent()) {
      return Optional.of("--minimum-norm takes Spark");
    }
    return OptionFlags.given(spec, SolveOption.MINIMUM_EXECUTORS).filter(k -> k > 0).isPresent()
            || OptionFlags.given(spec, SolveOption.EXECUTOR_WAIT).isPresent()
        ? Optional.of("executors are waited for")
        : Optional.empty();
  }

  private LeastSquaresSolution solveHere(LocalProblem problem) {
    int parts = input.partitions() > 0 ? input.partitions() : Engine.LOCAL.parallelism();
    RowSource rows = DriverRows.local(problem, parts);
    SparseQRSolver solver = solver(problem.a().columns());
    ProgressListener listener = listener();
    return repeated(() -> Pipeline.solve(rows, solver.options(), listener));
  }

  private LeastSquaresSolution onSpark(
      MatrixFormat format, @Nullable LocalProblem problem, @Nullable DenseMatrix b, boolean split) {
    try (SparkHandle spark = new SparkHandle(input.master, input.executors());
        JobScope jobs = new JobScope(spark.context())) {
      jobs.describe("reading " + input.matrix);
      if (format == MatrixFormat.PARQUET || format == MatrixFormat.CSV) {
        return solveTable(spark, format, b);
      }
      if (problem == null) {
        return solveFile(spark, format, b, split);
      }
      try (DriverRows rows = new DriverRows(spark.context(), problem, partitions(spark))) {
        return solve(rows.rows(), problem.a().columns());
      }
    } catch (IOException e) {
      throw SparkErrors.<RuntimeException>sneaky(e);
    }
  }

  private LocalProblem readHere(
      MatrixFormat format, @Nullable DenseMatrix b, String why, long begin) throws IOException {
    LocalProblem problem = LocalProblem.read(input.source(format), input.transpose, b);
    note(problem.note());
    progress(
        "%s: %,d x %,d, %,d nonzeros, read %sin %.1f s",
        input.matrix,
        problem.a().rows(),
        problem.a().columns(),
        problem.a().nonzeros(),
        why.isEmpty() ? "" : "by the driver alone (" + why + ") ",
        secondsSince(begin));
    return problem;
  }

  private int partitions(SparkHandle spark) {
    return input.partitions() > 0 ? input.partitions() : spark.context().defaultParallelism();
  }

  private LeastSquaresSolution solveTable(
      SparkHandle spark, MatrixFormat format, @Nullable DenseMatrix b) {
    long begin = System.nanoTime();
    try (TripletRows rows =
        new TripletRows(
            spark.session(), input.table(format), input.transpose, b, partitions(spark))) {
      readSeconds += secondsSince(begin);
      progress(
          "%s: %,d x %,d, read by the executors in %.1f s",
          input.matrix, rows.rowCount(), rows.columns(), secondsSince(begin));
      return solve(rows.rows(), rows.columns());
    }
  }

  private LeastSquaresSolution solveFile(
      SparkHandle spark, MatrixFormat format, @Nullable DenseMatrix b, boolean split)
      throws IOException {
    long begin = System.nanoTime();
    FileRows.Request request =
        new FileRows.Request(
            input.matrix,
            MatrixFormat.uri(input.matrix),
            input.transpose,
            Labels.DEFAULT,
            b,
            split && rhs != null ? new FileRows.Source(rhs, MatrixFormat.uri(rhs)) : null,
            input.partitions(),
            input.base());
    try (FileRows rows =
        format == MatrixFormat.LIBSVM
            ? FileRows.libsvm(spark.context(), request)
            : FileRows.matrixMarket(spark.context(), request)) {
      rows.persist();
      note(rows.note());
      readSeconds += secondsSince(begin);
      progress(
          "%s: %,d x %,d, read by the executors in %d splits, %.1f s",
          input.matrix, rows.rowCount(), rows.columns(), rows.splits(), secondsSince(begin));
      return solve(rows.rows(), rows.columns());
    }
  }

  private void checkArguments() {
    input.check();
    if (repeat < 1) {
      throw new UsageException("--repeat " + repeat + ": at least 1");
    }
    if (input.matrix.equals(rhs) && Piped.is(input.matrix)) {
      throw new UsageException(rhs + ": one pipe cannot be both --matrix and --rhs");
    }
    if (criteria != null && criteria < 1) {
      throw new UsageException("--criteria " + criteria + ": at least 1 probe");
    }
    if (criteria != null && OptionFlags.given(spec, SolveOption.MINIMUM_NORM).isPresent()) {
      throw new UsageException("--criteria and --minimum-norm: a minimum norm takes two Q");
    }
    output.check(out);
  }

  /** Tells an assumption made while reading. */
  private void note(String note) {
    if (!note.isEmpty()) {
      progress("%s: %s", input.matrix, note);
    }
  }

  /** The solver described by the options, for a matrix with this number of columns. */
  SparseQRSolver solver(int columns) {
    GpuSparseQR.Builder builder =
        GpuSparseQR.builder().columns(columns).profile(output.isPage()).listener(listener());
    OptionFlags.forEach(spec, (option, text) -> builder.option(option.name(), text));
    if (criteria != null) {
      builder.keepQ(true);
    }
    return builder.build();
  }

  private LeastSquaresSolution solve(JavaRDD<SparseRow> rows, int columns) {
    SparseQRSolver solver = solver(columns);
    int probes = criteria == null ? 0 : criteria;
    return repeated(() -> probes > 0 ? withCriteria(solver, rows, probes) : solver.solve(rows));
  }

  private static LeastSquaresSolution withCriteria(
      SparseQRSolver solver, JavaRDD<SparseRow> rows, int probes) {
    try (QRFactorization f = solver.factorize(rows)) {
      LeastSquaresSolution s = f.solve();
      return new LeastSquaresSolution(
          s.solutions(),
          s.residualNorms(),
          s.rank(),
          s.deadColumns(),
          s.report().withCriteria(f.criteria(probes)));
    }
  }

  private LeastSquaresSolution repeated(Supplier<LeastSquaresSolution> solve) {
    List<SolveReport.Seconds> times = new ArrayList<>();
    LeastSquaresSolution solution = null;
    for (int k = 0; k < repeat; k++) {
      solution = solve.get();
      SolveReport.Seconds s = solution.report().seconds();
      if (repeat > 1) {
        progress(
            "run %d of %d: %.3f s, of it factorize %.3f s",
            k + 1, repeat, s.total(), s.factorize());
      }
      if (k > 0 || repeat == 1) {
        times.add(s);
      }
    }
    if (solution == null) {
      throw new IllegalStateException("--repeat is at least 1");
    }
    return new LeastSquaresSolution(
        solution.solutions(),
        solution.residualNorms(),
        solution.rank(),
        solution.deadColumns(),
        solution.report().withSeconds(Medians.of(times)));
  }

  private ProgressListener listener() {
    if (!input.verbose) {
      return output.failed.hearing(ConsoleProgress.standard());
    }
    return output.failed.hearing(
        p ->
            progress(
                "[%6.2f s] %s: %s (%.0f%%)",
                p.elapsedSeconds(), p.phase(), p.detail(), 100 * p.fraction()));
  }

  private void progress(String format, Object... values) {
    PrintWriter err = spec.commandLine().getErr();
    synchronized (err) {
      err.println(String.format(Locale.ROOT, format, values));
      err.flush();
    }
  }

  private void write(LeastSquaresSolution solution, SolveReport result) {
    try (Outputs outputs = output.outputs()) {
      DenseMatrix x = DenseMatrix.ofColumns(result.matrix().columns(), solution.solutions());
      outputs.add(out, file -> MatrixMarketWriter.writeArray(file, x));
      output.add(outputs, result);
      outputs.commit();
    }
  }

  private static double secondsSince(long begin) {
    return (System.nanoTime() - begin) * 1e-9;
  }
}
