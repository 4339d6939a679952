/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import io.sparqr.spark.design.formula.Formula;
import io.sparqr.spark.engine.JobScope;
import io.sparqr.spark.input.MatrixFormat;
import io.sparqr.spark.input.UsageException;
import io.sparqr.spark.ml.RegressionOption;
import io.sparqr.spark.ml.SparseQRRegression;
import io.sparqr.spark.ml.SparseQRRegressionSummary;
import io.sparqr.spark.plan.DeclaredOption;
import io.sparqr.spark.report.ConsoleProgress;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.storage.StorageLevel;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code sparqr regress}: a linear model of a data file, as by R's {@code lm}. */
@Command(
    name = "regress",
    description = "Fits a linear model to a data file: prints lm's table, writes coefficients.",
    versionProvider = CliVersion.class,
    mixinStandardHelpOptions = true,
    modelTransformer = OptionFlags.OfRegression.class,
    sortOptions = false)
final class RegressCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;

  @Mixin private ReportOptions output;

  @Mixin private TableInput input;

  @Parameters(
      index = "0",
      paramLabel = "DATA",
      description =
          "CSV with a header (NA and nothing are missing values) or Parquet; text columns are"
              + " factors, their first level in ascending order the reference")
  private String data;

  @Option(
      names = "--out",
      paramLabel = "FILE.csv",
      description = "term, estimate, std_error, t_value, p_value")
  private @Nullable Path out;

  @Option(
      names = "--show",
      paramLabel = "K",
      defaultValue = "100",
      description = "coefficients that are printed, at most; default ${DEFAULT-VALUE}")
  private int show;

  @Option(
      names = "--master",
      paramLabel = "URL",
      description = "Spark master; default: what spark-submit says, otherwise local[*]")
  private @Nullable String master;

  @Option(names = "--verbose", description = "stack traces with errors")
  @SuppressWarnings("UnusedVariable") // Failures asks picocli for it
  private boolean verbose;

  private double readSeconds;

  @Override
  public Integer call() throws IOException {
    MatrixFormat format = checkArguments();
    long begin = System.nanoTime();
    try {
      return run(format, begin);
    } catch (UsageException e) {
      throw e;
    } catch (Throwable e) {
      output.writeFailed(e, readSeconds, secondsSince(begin)).ifPresent(why -> progress("%s", why));
      throw e;
    }
  }

  private MatrixFormat checkArguments() throws IOException {
    MatrixFormat format = DataTable.format(data);
    if (format != MatrixFormat.CSV && format != MatrixFormat.PARQUET) {
      throw new UsageException(data + ": a data file is CSV (.csv, .csv.gz) or Parquet (.parquet)");
    }
    if (show < 0) {
      throw new UsageException("--show " + show + ": at least 0");
    }
    OptionFlags.check(spec);
    usage(() -> Formula.parse(formula(), List.of()));
    usage(input::options);
    output.check(out);
    return format;
  }

  /** A wrong formula or column is an error of the command line. */
  private static <T> T usage(Supplier<T> action) {
    try {
      return action.get();
    } catch (IllegalArgumentException e) {
      var wrong = new UsageException(String.valueOf(e.getMessage()));
      wrong.initCause(e);
      throw wrong;
    }
  }

  private int run(MatrixFormat format, long begin) throws IOException {
    try (SparkHandle spark = new SparkHandle(master, 0);
        JobScope jobs = new JobScope(spark.context())) {
      jobs.describe("reading " + data);
      DataTable table = DataTable.read(spark.session(), data, format, input);
      Dataset<Row> rows = table.rows().persist(StorageLevel.MEMORY_AND_DISK());
      try {
        long count = rows.count();
        readSeconds = secondsSince(begin);
        progress("%s: %,d rows, read in %.1f s", data, count, readSeconds);
        table.said().forEach(line -> progress("%s", line));
        var columns = new ColumnLists(List.of(rows.columns()));
        SparseQRRegressionSummary summary = usage(() -> estimator(columns).fit(rows)).summary();
        PrintWriter printed = spec.commandLine().getOut();
        printed.println(summary.toString(show));
        printed.flush();
        write(summary, table.notes());
      } finally {
        rows.unpersist(false);
      }
    }
    return 0;
  }

  private String formula() {
    return OptionFlags.given(spec, RegressionOption.FORMULA).orElseThrow();
  }

  private SparseQRRegression estimator(ColumnLists columns) {
    var estimator =
        new SparseQRRegression()
            .setProfile(output.isPage())
            .setListener(output.failed.hearing(ConsoleProgress.standard()));
    OptionFlags.forEachOfRegression(spec, (option, text) -> set(estimator, option, text));
    OptionFlags.forEach(spec, (option, text) -> set(estimator, option, text));
    for (RegressionOption<String[]> option :
        List.of(RegressionOption.CATEGORICAL_COLS, RegressionOption.CLUSTER_COLS)) {
      List<String> names = columns.columns(word(option), OptionFlags.texts(spec, option));
      set(estimator, option, names);
    }
    RegressionOption<String[]> levels = RegressionOption.REFERENCE_LEVELS;
    set(estimator, levels, columns.references(word(levels), OptionFlags.texts(spec, levels)));
    return estimator;
  }

  private static String word(DeclaredOption<?> option) {
    return option.word().orElseThrow();
  }

  private static void set(SparseQRRegression estimator, DeclaredOption<?> option, String text) {
    estimator.set(estimator.getParam(option.name()), option.param(text));
  }

  private static void set(
      SparseQRRegression estimator, DeclaredOption<?> option, List<String> texts) {
    if (!texts.isEmpty()) {
      estimator.set(estimator.getParam(option.name()), texts.toArray(new String[0]));
    }
  }

  private void write(SparseQRRegressionSummary summary, List<String> notes) throws IOException {
    try (Outputs outputs = output.outputs()) {
      if (out != null) {
        List<Row> table = summary.toDataFrame().collectAsList();
        outputs.add(out, file -> DataTable.write(table, file));
      }
      output.add(
          outputs, summary.report().withNotes(notes).withReadSeconds(readSeconds).withInput(data));
      outputs.commit();
    }
  }

  private void progress(String format, Object... values) {
    PrintWriter err = spec.commandLine().getErr();
    err.println(String.format(Locale.ROOT, format, values));
    err.flush();
  }

  private static double secondsSince(long begin) {
    return (System.nanoTime() - begin) * 1e-9;
  }
}
