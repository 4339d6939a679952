/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import io.sparqr.backend.BackendChoice;
import io.sparqr.matrix.gallery.WorkerPanel;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.report.LeastSquaresSolution;
import io.sparqr.spark.report.ProgressListener;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.Iterator;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * Measures the driver's live heap (after a full collection) while a panel is solved whose rows are
 * generated on the executors: at the end of every phase, and the peak. Collections are requested
 * every half second ({@code sample}), only at the ends of phases ({@code phases}), or never, to
 * measure the time alone ({@code time}).
 *
 * <p>{@code DriverPeak MASTER WORKERS FIRMS YEARS PARTITIONS sample|phases|time [errors]}; the
 * answer is compared with the effects from which the labels were made. With {@code errors} it also
 * computes the standard errors of all coefficients and the leverages of all rows, whose sum must be
 * the rank. Exits with 1 if something is wrong.
 */
public final class DriverPeak {

  private final AtomicReference<String> phase = new AtomicReference<>("begin");
  private String worstPhase = "";
  private long worst;
  private final long base;

  private DriverPeak() {
    this.base = live();
  }

  private static long live() {
    System.gc();
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }

  private synchronized void sample(String mark) {
    String now = phase.get();
    long used = live();
    if (used > worst) {
      worst = used;
      worstPhase = now;
    }
    if (!mark.isEmpty()) {
      System.out.printf(Locale.ROOT, "  live %,8.1f MB at the end of %s%n", used / 1e6, mark);
    }
  }

  private void hear(ProgressListener.Progress p) {
    String before = phase.getAndSet(p.phase());
    if (!before.equals(p.phase())) {
      sample(before);
    }
  }

  private static double effect(int column) {
    return ((column * 0x9e3779b97f4a7c15L) >>> 11) * 0x1p-53 - 0.5;
  }

  private static Iterator<SparseRow> rows(WorkerPanel panel, int part, int parts) {
    int from = (int) ((long) panel.workers() * part / parts);
    int to = (int) ((long) panel.workers() * (part + 1) / parts);
    int years = panel.years();
    return IntStream.range(from, to)
        .boxed()
        .flatMap(
            w -> {
              int[] firm = new int[years];
              panel.firms(w, firm);
              return Arrays.stream(firm)
                  .mapToObj(
                      f -> {
                        int column = panel.workers() + f;
                        return new SparseRow(
                            new int[] {w, column}, new double[] {1, 1}, effect(w) + effect(column));
                      });
            })
        .iterator();
  }

  /** See the class. */
  public static void main(String[] args) throws InterruptedException {
    SparkConf conf = BenchmarkSpark.cluster(args[0], "sparqr driver", "3g");
    int number = Integer.parseInt(args[1]);
    var panel = new WorkerPanel(number, Integer.parseInt(args[2]), Integer.parseInt(args[3]), 1);
    int parts = Integer.parseInt(args[4]);
    boolean good;
    try (JavaSparkContext context = new JavaSparkContext(conf)) {
      context.setLogLevel("ERROR");
      if (args[0].startsWith("local-cluster")) {
        int executors = Integer.parseInt(args[0].replaceAll("\\D+(\\d+),.*", "$1"));
        while (context.sc().statusTracker().getExecutorInfos().length < executors + 1) {
          Thread.sleep(100);
        }
      }
      good = solve(context, panel, parts, args[5], args.length > 6);
    }
    System.exit(good ? 0 : 1);
  }

  private static boolean solve(
      JavaSparkContext context, WorkerPanel panel, int parts, String how, boolean errors)
      throws InterruptedException {
    JavaRDD<SparseRow> rows =
        context
            .parallelize(IntStream.range(0, parts).boxed().toList(), parts)
            .mapPartitionsWithIndex((p, it) -> rows(panel, p, parts), true);
    var peak = new DriverPeak();
    System.out.printf(
        Locale.ROOT,
        "panel of %,d workers x %,d firms x %d years: %,d rows, %,d columns; heap %,d MB, %.1f live"
            + " before%n",
        panel.workers(),
        panel.firms(),
        panel.years(),
        panel.rows(),
        panel.columns(),
        Runtime.getRuntime().maxMemory() >> 20,
        peak.base / 1e6);
    Thread sampler = new Thread(() -> run(peak), "samples of the heap");
    sampler.setDaemon(true);
    if (how.equals("sample")) {
      sampler.start();
    }
    long begin = System.nanoTime();
    SparseQRSolver solver =
        GpuSparseQR.builder()
            .backend(BackendChoice.CPU)
            .listener(how.equals("time") ? ProgressListener.NONE : peak::hear)
            .build();
    LeastSquaresSolution solution;
    try (QRFactorization f = solver.factorize(rows)) {
      solution = f.solve();
      if (errors) {
        peak.phase.set("errors");
        errors(f);
      }
    }
    double seconds = (System.nanoTime() - begin) * 1e-9;
    sampler.interrupt();
    sampler.join();
    if (!how.equals("time")) {
      System.out.printf(
          Locale.ROOT,
          "most live %,.1f MB (in %s), %.1f bytes a column above what was before%n",
          peak.worst / 1e6,
          peak.worstPhase,
          (peak.worst - peak.base) / (double) panel.columns());
    }
    System.out.println(solution.report());
    double error = error(panel, solution.x());
    System.out.printf(
        Locale.ROOT, "%.1f s; largest error of a row's prediction %.2e%n", seconds, error);
    return error < 1e-9;
  }

  private static void errors(QRFactorization f) {
    double largest =
        Arrays.stream(f.standardErrors()).filter(e -> !Double.isNaN(e)).max().orElse(-1);
    double trace = f.leverages().mapToDouble(h -> Arrays.stream(h).sum()).sum();
    System.out.printf(
        Locale.ROOT,
        "largest error %.3e, leverages' sum %.6f of rank %,d%n",
        largest,
        trace,
        f.rank());
    if (!(Math.abs(trace - f.rank()) < 1e-6 * f.rank())) {
      throw new IllegalStateException("the leverages are not those of the rank");
    }
  }

  private static void run(DriverPeak peak) {
    try {
      while (true) {
        Thread.sleep(500);
        peak.sample("");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Effects are determined up to a constant for each group of firms; their sums must be right. */
  private static double error(WorkerPanel panel, double[] x) {
    int[] firm = new int[panel.years()];
    double worst = 0;
    for (int w = 0; w < panel.workers(); w++) {
      panel.firms(w, firm);
      for (int f : firm) {
        int column = panel.workers() + f;
        worst = Math.max(worst, Math.abs(x[w] + x[column] - effect(w) - effect(column)));
      }
    }
    return worst;
  }
}
