/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import io.sparqr.error.DimensionMismatchException;
import io.sparqr.matrix.DenseMatrix;
import io.sparqr.matrix.MatrixMarketWriter;
import io.sparqr.matrix.NumpyWriter;
import io.sparqr.numeric.dense.BlasLoader;
import io.sparqr.numeric.dense.DenseQr;
import io.sparqr.numeric.dense.SmallDense;
import io.sparqr.spark.engine.JobScope;
import io.sparqr.spark.input.DriverRows;
import io.sparqr.spark.input.LocalProblem;
import io.sparqr.spark.input.MatrixFormat;
import io.sparqr.spark.input.UsageException;
import io.sparqr.spark.report.RunRecord;
import io.sparqr.spark.report.TallReport;
import io.sparqr.spark.tall.QStorage;
import io.sparqr.spark.tall.TallSkinnyQR;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.threads.Crew;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Iterator;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code sparqr qr}: R, Q and singular values of a tall matrix, taken as dense. */
@Command(
    name = "qr",
    description =
        "Factors a tall matrix, taken as dense, A = QR: writes R and Q, prints rank and singular"
            + " values.",
    versionProvider = CliVersion.class,
    mixinStandardHelpOptions = true,
    modelTransformer = OptionFlags.OfQr.class,
    sortOptions = false)
final class QrCommand implements Callable<Integer> {

  private static final double EPS = Math.ulp(1.0);

  @Spec private CommandSpec spec;

  @Mixin private MatrixOptions input;

  @Mixin private ReportOptions output;

  @Option(
      names = "--out",
      paramLabel = "FILE",
      description =
          "R, n x n, upper triangular with a diagonal of at least 0: Matrix Market array, or NumPy's"
              + " if it ends in .npy")
  private @Nullable Path out;

  @Option(names = "--q", paramLabel = "FILE", description = "the thin Q, m x n, as --out")
  private @Nullable Path q;

  @Option(
      names = "--singular-values",
      paramLabel = "K",
      defaultValue = "0",
      description = "print the K largest singular values")
  private int values;

  @Option(
      names = "--rank-tolerance",
      paramLabel = "T",
      description =
          "the rank counts pivots of R above T times the largest column norm; default: m eps")
  private @Nullable Double tolerance;

  @Option(
      names = "--engine",
      paramLabel = "NAME",
      defaultValue = "auto",
      description =
          "where the rows are factored: ${COMPLETION-CANDIDATES}; local: in this JVM without Spark;"
              + " auto: local up to 2,000,000 nonzeros, unless there is a --master or a setting of"
              + " Spark's")
  private EngineChoice engine;

  private double readSeconds;
  private double factorSeconds;
  private double qSeconds;

  /** What the report says of devices. */
  private String devices = "";

  /** R, and Q if it is asked for. */
  private record Factors(DenseMatrix r, @Nullable DenseMatrix q) {}

  @Override
  public Integer call() throws IOException {
    checkArguments();
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
    if (format == MatrixFormat.PARQUET || format == MatrixFormat.CSV) {
      throw new UsageException(
          input.matrix + ": the rows of a table have no order; use .npy, .mtx or another matrix");
    }
    CsrMatrix read = LocalProblem.readMatrix(input.source(format));
    CsrMatrix a = input.transpose ? read.transpose() : read;
    requireTall(a);
    // readers refuse NaN and infinity, with their place
    readSeconds = secondsSince(begin);
    output.failed.analyzing();
    var problem = new LocalProblem(a, new DenseMatrix(a.rows(), 0, new double[0]));
    Optional<String> obstacle =
        Optional.ofNullable(input.master).map(master -> "--master is given");
    EngineChoice.Chosen where = engine.choose(obstacle, problem);
    Factors factors =
        engine.solve(
            where,
            () -> here(a),
            () -> onSpark(problem),
            chosen -> output.failed.solving(chosen.reason()));
    TallReport found = report(a, factors.r.values(), where.spark(), begin);
    output.failed.writing();
    try (Outputs outputs = output.outputs()) {
      outputs.add(out, file -> write(file, factors.r));
      if (factors.q != null) {
        outputs.add(q, file -> write(file, factors.q));
      }
      output.add(outputs, found);
      outputs.commit();
    } finally {
      PrintWriter summary = spec.commandLine().getOut();
      summary.print(found.toText());
      summary.flush();
    }
    return 0;
  }

  private void checkArguments() {
    input.check();
    output.check(out);
    output.check(q);
    if (out != null && q != null && out.toAbsolutePath().equals(q.toAbsolutePath())) {
      throw new UsageException("--out and --q are the same file");
    }
    if (values < 0) {
      throw new UsageException("--singular-values " + values + ": at least 0");
    }
    if (tolerance != null && !(tolerance >= 0 && tolerance < 1)) {
      throw new UsageException("--rank-tolerance " + tolerance + ": from 0 to less than 1");
    }
  }

  /** Refuses what cannot be done, before any work. */
  private void requireTall(CsrMatrix a) {
    LocalProblem.requireShape(input.matrix, a.rows(), a.columns());
    if (a.rows() < a.columns()) {
      throw new DimensionMismatchException(
          "%s: %d rows, %d columns: a tall matrix has at least as many rows as columns%s"
              .formatted(
                  input.matrix,
                  a.rows(),
                  a.columns(),
                  input.transpose ? "" : " (--transpose takes A')"),
          "rows",
          a.columns(),
          a.rows());
    }
    if (values > a.columns()) {
      throw new UsageException(
          "--singular-values %d: the matrix has %d columns".formatted(values, a.columns()));
    }
    long triangles = 8L * a.columns() * a.columns() * (values > 0 ? 5 : 3);
    long explicit = q == null ? 0 : 16L * a.rows() * a.columns();
    long heap = Runtime.getRuntime().maxMemory();
    boolean tooLong = q != null && (long) a.rows() * a.columns() > Integer.MAX_VALUE - 8L;
    if (tooLong || triangles + explicit > heap || a.columns() > 46_000) {
      throw new UsageException(
          "%s: %s of %d x %d, taken as dense, needs about %,d MB of a heap of %,d MB; solve takes"
                  .formatted(
                      input.matrix,
                      q == null ? "R" : "Q",
                      q == null ? a.columns() : a.rows(),
                      a.columns(),
                      (triangles + explicit) >> 20,
                      heap >> 20)
              + " sparse matrices of any width");
    }
  }

  private Factors here(CsrMatrix a) {
    long begin = System.nanoTime();
    DenseQr.Builder builder = DenseQr.builder(BlasLoader.kernels(), a.columns(), Crew.ALONE);
    if (q != null) {
      builder.keepQ();
    }
    for (int i = 0; i < a.rows(); i++) {
      builder.row(a.columnIndex(), a.values(), a.rowStart()[i], a.rowStart()[i + 1]);
    }
    DenseQr qr = builder.factor();
    factorSeconds = secondsSince(begin);
    long second = System.nanoTime();
    DenseMatrix thin = q == null ? null : new DenseMatrix(a.rows(), a.columns(), qr.thinQ());
    qSeconds = q == null ? 0 : secondsSince(second);
    return new Factors(new DenseMatrix(a.columns(), a.columns(), qr.r()), thin);
  }

  private Factors onSpark(LocalProblem problem) {
    int m = problem.a().rows();
    int n = problem.a().columns();
    try (SparkHandle spark = new SparkHandle(input.master, input.executors());
        JobScope jobs = new JobScope(spark.context())) {
      jobs.describe("QR of " + input.matrix);
      int partitions =
          input.partitions() > 0 ? input.partitions() : spark.context().defaultParallelism();
      long begin = System.nanoTime();
      QStorage storage = q == null ? QStorage.NONE : QStorage.RECOMPUTED;
      try (DriverRows rows = new DriverRows(spark.context(), problem, partitions);
          var qr = TallSkinnyQR.builder().keepQ(storage).factorize(rows.rows())) {
        factorSeconds = secondsSince(begin);
        if (qr.partitionsOnDevices() > 0) {
          devices =
              "; rows of %d of %d partitions reduced on devices"
                  .formatted(qr.partitionsOnDevices(), partitions);
        }
        long second = System.nanoTime();
        DenseMatrix thin = q == null ? null : collected(qr.q().toLocalIterator(), m, n);
        qSeconds = q == null ? 0 : secondsSince(second);
        return new Factors(new DenseMatrix(n, n, qr.r().toArray()), thin);
      }
    }
  }

  private static DenseMatrix collected(Iterator<double[]> rows, int m, int n) {
    double[] all = new double[m * n];
    for (int i = 0; i < m; i++) {
      double[] row = rows.next();
      for (int k = 0; k < n; k++) {
        all[i + k * m] = row[k];
      }
    }
    return new DenseMatrix(m, n, all);
  }

  private TallReport report(CsrMatrix a, double[] r, boolean spark, long begin) {
    int n = a.columns();
    double limit = tolerance == null ? a.rows() * EPS : tolerance;
    int rank = SmallDense.rank(r, n, limit, new int[n]);
    double[] sigma = new double[n];
    if (values > 0) {
      SmallDense.svd(r, n, sigma, new double[n * n], new double[n * n]);
    }
    return new TallReport(
        a.rows(),
        n,
        rank,
        limit,
        Arrays.copyOf(sigma, values),
        spark,
        output.failed.engineReason() + devices,
        new TallReport.Seconds(readSeconds, factorSeconds, qSeconds, secondsSince(begin)),
        RunRecord.here(secondsSince(begin)).withInput(input.matrix));
  }

  private static void write(Path file, DenseMatrix a) throws IOException {
    if (file.toString().endsWith(".npy")) {
      NumpyWriter.writeArray(file, a);
    } else {
      MatrixMarketWriter.writeArray(file, a);
    }
  }

  private static double secondsSince(long begin) {
    return (System.nanoTime() - begin) * 1e-9;
  }
}
