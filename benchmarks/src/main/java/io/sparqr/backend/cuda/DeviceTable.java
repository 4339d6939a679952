/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import io.sparqr.backend.cpu.CpuBackendProvider;
import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.numeric.ColumnNorms;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.RowSplit;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeFactorizer;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * The table of device timings: numeric factorization of one task as its caller sees it (values on
 * the host in, R and Q'b on the host out, plan made before), one line of text and one of JSON a
 * problem. Arguments: problems, each {@code name[@ordering]}, name a generator's specification,
 * {@code dense:MxN} or {@code batch:COUNTxMxN}; ordering natural, colamd, nd, auto. With the system
 * property table.cpu=true the CPU backend's time beside it; with table.choice=true only what the
 * choice of the backend is calibrated by; with table.detection=true without the lines for no rank
 * detection. A last line a problem is of a task as a solve has it: the session is warm, but plan,
 * layout and device memory are new, and only x comes back; and of one as {@code factorize} has it,
 * whose R comes back and stays on the device, too. A name can also be a Matrix Market file's; one
 * that begins with {@code t:} is transposed.
 */
final class DeviceTable {

  private static final int REPEATS = Integer.getInteger("table.repeats", 5);

  /** Tasks before those that are measured: layouts are compiled, page-locked buffers allocated. */
  private static final int UNMEASURED = 4;

  private static final DeviceSessions SESSIONS = new DeviceSessions(TestDevice.driver(), 10_000);

  private DeviceTable() {}

  /**
   * The two backends as a solve uses them: the CPU's, and the device's with a warm session but with
   * a new plan and new device memory. Best of three.
   */
  private static void choice(String name, String ordering, SubtreeProblem problem, double tol) {
    var analysis = problem.analysis();
    double bytes = 0;
    for (int f = 0; f < analysis.fronts(); f++) {
      bytes += 8.0 * analysis.fm(f) * analysis.fn(f);
    }
    var options =
        new FactorOptions(tol, Runtime.getRuntime().availableProcessors(), 0).ofUnitColumns(true);
    double[] best = {1e9, 1e9};
    for (int k = 0; k < 4; k++) {
      try (SubtreeFactorizer device = new CudaSubtreeFactorizer(SESSIONS, 0, null)) {
        best[1] = Math.min(best[1], timed(device, problem, options));
      }
      try (SubtreeFactorizer cpu = new CpuBackendProvider().create(0)) {
        best[0] = Math.min(best[0], k > 0 && best[0] > 20 ? 1e9 : timed(cpu, problem, options));
      }
    }
    System.out.printf(
        Locale.ROOT,
        "choice | %s@%s | %.1f | %.3f | %.4f | %.4f | %.2f%n",
        name,
        ordering,
        analysis.flops() / bytes,
        analysis.flops() * 1e-9,
        best[0],
        best[1],
        best[0] / best[1]);
  }

  private static double timed(
      SubtreeFactorizer factorizer, SubtreeProblem problem, FactorOptions options) {
    long t0 = System.nanoTime();
    factorizer.factor(problem, options);
    return seconds(t0);
  }

  /** Runs the table. */
  public static void main(String[] problems) {
    int threads = Runtime.getRuntime().availableProcessors();
    for (String problem : problems) {
      String[] part = problem.split("@");
      try {
        measure(part[0], part.length > 1 ? part[1] : "auto", threads);
      } catch (RuntimeException | OutOfMemoryError e) {
        System.out.println(problem + ": " + e);
        e.printStackTrace(System.out);
      }
    }
  }

  static CsrMatrix matrix(String name) {
    if (name.startsWith("t:")) {
      return matrix(name.substring(2)).transpose();
    }
    if (name.endsWith(".mtx") || name.endsWith(".mtx.gz")) {
      try {
        return io.sparqr.matrix.MatrixMarket.readMatrix(java.nio.file.Path.of(name));
      } catch (java.io.IOException e) {
        throw new java.io.UncheckedIOException(e);
      }
    }
    String[] kind = name.split(":");
    if (!kind[0].equals("dense") && !kind[0].equals("batch")) {
      return Gallery.generate(Gallery.PREFIX + name);
    }
    int[] size = Arrays.stream(kind[1].split("x")).mapToInt(Integer::parseInt).toArray();
    return kind[0].equals("dense")
        ? blocks(1, size[0], size[1])
        : blocks(size[0], size[1], size[2]);
  }

  /** Block diagonal with dense random blocks. */
  private static CsrMatrix blocks(int count, int m, int n) {
    int[] start = new int[count * m + 1];
    int[] column = new int[count * m * n];
    double[] value = new double[column.length];
    IntStream.range(0, count * m)
        .parallel()
        .forEach(
            i -> {
              var random = new SplittableRandom(i);
              int at = i * n;
              for (int j = 0; j < n; j++) {
                column[at] = i / m * n + j;
                value[at++] = 2 * random.nextDouble() - 1;
              }
              start[i + 1] = at;
            });
    return new CsrMatrix(count * m, count * n, start, column, value);
  }

  static SymbolicAnalysis analysis(CsrMatrix a, String ordering) {
    var options =
        SymbolicOptions.defaults()
            .withSingletons(false)
            .withOrdering(OrderingMethod.parse(ordering));
    return SymbolicAnalyzer.analyze(a.pattern(), options);
  }

  /**
   * The whole problem as one task, with a random right-hand side, equilibrated as the product's.
   */
  static SubtreeProblem problem(CsrMatrix a, SymbolicAnalysis analysis) {
    var random = new Random(2);
    double[] b = new double[a.rows()];
    Arrays.setAll(b, i -> random.nextGaussian());
    var columnNorms = new ColumnNorms(a.columns());
    for (int k = 0; k < a.nonzeros(); k++) {
      columnNorms.add(a.columnIndex()[k], a.values()[k]);
    }
    RowSplit split = RowSplit.of(a, b, 1, analysis, columnNorms.factors());
    int[] fronts = new int[analysis.fronts()];
    Arrays.setAll(fronts, f -> f);
    return new SubtreeProblem(analysis, fronts, split.rows(), List.of());
  }

  private static void measure(String name, String ordering, int threads) {
    CsrMatrix a = matrix(name);
    long t0 = System.nanoTime();
    SymbolicAnalysis analysis = analysis(a, ordering);
    double analyze = seconds(t0);
    SubtreeProblem problem = problem(a, analysis);
    int[] fronts = problem.fronts();
    double tolerance = FactorOptions.defaultTolerance(a.rows(), a.columns(), 1);
    if (Boolean.getBoolean("table.choice")) {
      choice(name, ordering, problem, tolerance);
      return;
    }
    int widest = 0;
    for (int f : fronts) {
      widest = Math.max(widest, analysis.fn(f));
    }
    var provider = TestDevice.provider();
    try (var device = (CudaSubtreeFactorizer) provider.create(0)) {
      boolean detection = Boolean.getBoolean("table.detection");
      for (double tol : detection ? new double[] {tolerance} : new double[] {-1, tolerance}) {
        var factorOptions = new FactorOptions(tol, threads, 0).ofUnitColumns(true);
        t0 = System.nanoTime();
        SubtreeFactor first = device.factor(problem, factorOptions);
        double cold = seconds(t0);
        double[] wall = new double[REPEATS];
        double[] kernel = new double[REPEATS];
        SubtreeFactor f = first;
        for (int k = 0; k < REPEATS; k++) {
          t0 = System.nanoTime();
          f = device.factor(problem, factorOptions);
          wall[k] = seconds(t0);
          kernel[k] = device.kernelMillis();
        }
        Arrays.sort(wall);
        Arrays.sort(kernel);
        var s = f.summary();
        System.out.printf(
            Locale.ROOT,
            "%-22s %-7s tol %-4s | %8.2f Gflop (%8.2f done) fronts %6d widest %5d | analyze %6.2f s"
                + " first %7.3f s | factor %8.4f s (best %8.4f) kernels %8.2f ms | stages %d rounds"
                + " %d tasks %d up %.1f MB down %.1f MB | rank %d departure %.1e done again %d%n",
            name,
            ordering,
            tol < 0 ? "off" : "on",
            analysis.flops() * 1e-9,
            s.flopsDone() * 1e-9,
            s.fronts(),
            widest,
            analyze,
            cold,
            wall[REPEATS / 2],
            wall[0],
            kernel[REPEATS / 2],
            s.stages(),
            s.rounds(),
            s.tasks(),
            s.h2dBytes() * 1e-6,
            s.d2hBytes() * 1e-6,
            s.rank(),
            s.normDeparture(),
            s.redoneTasks());
        System.out.printf(
            Locale.ROOT,
            "{\"problem\":\"%s\",\"ordering\":\"%s\",\"rankDetection\":%b,\"gflop\":%.3f,"
                + "\"gflopDone\":%.3f,\"fronts\":%d,\"analyzeSeconds\":%.4f,\"firstSeconds\":%.4f,"
                + "\"factorSeconds\":%.5f,\"kernelMillis\":%.3f,\"rounds\":%d,\"tasks\":%d,"
                + "\"h2dBytes\":%d,\"d2hBytes\":%d,\"rank\":%d,\"normDeparture\":%.3e}%n",
            name,
            ordering,
            tol >= 0,
            analysis.flops() * 1e-9,
            s.flopsDone() * 1e-9,
            s.fronts(),
            analyze,
            cold,
            wall[REPEATS / 2],
            kernel[REPEATS / 2],
            s.rounds(),
            s.tasks(),
            s.h2dBytes(),
            s.d2hBytes(),
            s.rank(),
            s.normDeparture());
      }
    }
    var tasks = new FactorOptions(tolerance, threads, 0).ofUnitColumns(true);
    task(name, ordering, "x alone", problem, tasks.forSolution(true));
    task(name, ordering, "R stays", problem, tasks.staying(true));
    if (Boolean.getBoolean("table.cpu")) {
      try (SubtreeFactorizer cpu = new CpuBackendProvider().create(0)) {
        var factorOptions = new FactorOptions(tolerance, threads, 0).ofUnitColumns(true);
        t0 = System.nanoTime();
        SubtreeFactor f = cpu.factor(problem, factorOptions);
        System.out.printf(
            Locale.ROOT,
            "%-22s %-7s cpu factor %.3f s rank %d%n",
            name,
            ordering,
            seconds(t0),
            f.summary().rank());
      }
    }
  }

  private static void task(
      String name, String ordering, String what, SubtreeProblem problem, FactorOptions options) {
    double[] wall = new double[REPEATS];
    double[] kernel = new double[REPEATS];
    // R of the lines before is no garbage of these tasks
    System.gc();
    try (DeviceSessions.Lease warm = SESSIONS.acquire(0)) {
      for (int run = -UNMEASURED; run < REPEATS; run++) {
        int k = Math.max(0, run);
        warm.session().device().bind();
        long t0 = System.nanoTime();
        try (var device = new CudaSubtreeFactorizer(SESSIONS, 0, null)) {
          device.factor(problem, options).residence().close();
          kernel[k] = device.kernelMillis();
        }
        wall[k] = seconds(t0);
      }
    }
    Arrays.sort(wall);
    Arrays.sort(kernel);
    System.out.printf(
        Locale.ROOT,
        "%-22s %-7s task, %s | %8.4f s (best %8.4f) kernels %8.2f ms%n",
        name,
        ordering,
        what,
        wall[REPEATS / 2],
        wall[0],
        kernel[REPEATS / 2]);
  }

  private static double seconds(long since) {
    return (System.nanoTime() - since) * 1e-9;
  }
}
