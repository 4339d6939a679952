/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.warmup;

import io.sparqr.configuration.Keys;
import io.sparqr.jvm.JvmPart;
import io.sparqr.spark.cluster.ClusterResources;
import io.sparqr.spark.device.Backends;
import io.sparqr.spark.device.DeviceReport;
import io.sparqr.spark.engine.Foreground;
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.apache.spark.api.java.JavaSparkContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Solves a few small problems in the background when an application starts that configures {@link
 * io.sparqr.spark.metrics.SparqrPlugin}, and never without it, so that classes are loaded, the
 * native BLAS and the device's kernels are there and the JVM has compiled our loops when the user's
 * rows come: a first solve otherwise takes three to five times a later one
 * (benchmarks/history/2026-11-25-first-solve.txt).
 *
 * <p>One thread, and the helpers of its loops; some 30 MB of heap, ten times that on a larger
 * machine, and 2 GB on one with 16 GB and eight processors. There the rounds after the first are of
 * larger problems: what the JVM has compiled for small ones it throws away when it sees the
 * branches that large ones take. It ends when a later round compiles hardly anything new, when its
 * time is over, or after the problem at hand when a user's solve begins. Its failure is one line in
 * the log, beside the one that tells what it did.
 */
public final class Warmup {

  private static final Logger LOG = LoggerFactory.getLogger("io.sparqr");

  /** The rest of compilation, as a fraction of a round's time, that is not waited for. */
  private static final double SETTLED = 0.1;

  /** The warm-up that this JVM began last. */
  private static final JvmPart<AtomicReference<Warmup>> LAST =
      JvmPart.of("warm-ups", AtomicReference::new);

  private final double seconds;
  private final Work work;
  private final CountDownLatch ended = new CountDownLatch(1);
  private volatile boolean stopped;
  private volatile Outcome outcome = new Outcome(0, 0, "runs");

  /** What a warm-up runs until its time is over. */
  @FunctionalInterface
  interface Work {
    /** Does what comes once, and returns the steps of the first round. */
    List<Runnable> begin();

    /** The steps of the later rounds, after the first one's. */
    default List<Runnable> later(List<Runnable> first) {
      return first;
    }
  }

  /**
   * What it did so far.
   *
   * @param solves problems solved
   * @param seconds its duration
   * @param end why it ended
   */
  public record Outcome(int solves, double seconds, String end) {}

  private Warmup(double seconds, Work work) {
    this.seconds = seconds;
    this.work = work;
  }

  /**
   * Starts the warm-up of a driver, unless one runs in this JVM or {@code spark.sparqr.warmup} is
   * 0. Never throws.
   */
  static void begin(JavaSparkContext context) {
    UnaryOperator<String> settings = name -> context.getConf().get(name, null);
    begin(settings, ClusterResources.useWhatDriverHas(context), Optional.of(context));
  }

  /**
   * Begins a warm-up, unless its time is 0. Never throws.
   *
   * @param device whether to use the first device, if there is one
   * @param context empty on an executor
   */
  static void begin(
      UnaryOperator<String> settings, boolean device, Optional<JavaSparkContext> context) {
    try {
      double seconds = Keys.WARMUP.in(settings);
      boolean here = context.map(ClusterResources::useWhatDriverHas).orElse(false);
      boolean jobs = Keys.WARMUP_JOBS.find(settings).orElse(here);
      // Where tasks run in this JVM, whose driver decides, the device that the warm-up opens stays
      // open. On executors it does not: their driver would not know.
      Backends.keepOpen(seconds > 0 && here && device);
      if (seconds > 0) {
        begin(seconds, new Trials(device, context, jobs, jobs && here));
      }
    } catch (IllegalArgumentException e) {
      LOG.warn("warm-up: none, {}", e.getMessage());
    }
  }

  /**
   * Small problems, then larger ones.
   *
   * @param device whether to use the first device, if there is one
   * @param context empty on an executor
   * @param jobs whether Spark is warmed up as well
   * @param bySpark whether all problems are solved by Spark, in this JVM
   */
  private record Trials(
      boolean device, Optional<JavaSparkContext> context, boolean jobs, boolean bySpark)
      implements Work {

    @Override
    public List<Runnable> begin() {
      context.ifPresent(SparkObjects::make);
      boolean found = deviceFound();
      List<TrialProblem> problems = TrialProblem.list(found);
      problems.addAll(TrialProblem.large(found));
      if (bySpark) {
        // One without Spark, for what is loaded once; then as the user's solves will run.
        return Stream.concat(Stream.<Runnable>of(problems.get(0)::solve), steps(problems)).toList();
      }
      if (jobs) {
        context.ifPresent(problems.get(0)::solve);
      }
      return steps(problems).toList();
    }

    @Override
    public List<Runnable> later(List<Runnable> first) {
      List<TrialProblem> problems = TrialProblem.later(deviceFound());
      return problems.isEmpty() ? first : steps(problems).toList();
    }

    private boolean deviceFound() {
      return device && !DeviceReport.ofThisJvm("").devices().isEmpty();
    }

    private Stream<Runnable> steps(List<TrialProblem> problems) {
      if (!bySpark) {
        return problems.stream().map(p -> p::solve);
      }
      JavaSparkContext by = context.orElseThrow();
      return problems.stream()
          .flatMap(
              p ->
                  p.isSmall()
                      ? Stream.<Runnable>of(() -> p.solve(by), () -> p.factorize(by))
                      : Stream.<Runnable>of(() -> p.solve(by)));
    }
  }

  /** Begins a warm-up of that many seconds, unless one is running. */
  static Warmup begin(double seconds, Work work) {
    var made = new Warmup(seconds, work);
    Warmup last = LAST.get().get();
    boolean free = last == null || last.ended.getCount() == 0;
    if (!free || !LAST.get().compareAndSet(last, made)) {
      return Objects.requireNonNull(LAST.get().get());
    }
    Foreground.forget();
    made.start();
    return made;
  }

  private void start() {
    var thread = new Thread(this::run, "sparqr-warmup");
    thread.setDaemon(true);
    thread.setPriority(Thread.MIN_PRIORITY);
    thread.start();
  }

  /** The warm-up that this JVM began last. */
  public static Optional<Warmup> last() {
    return Optional.ofNullable(LAST.get().get());
  }

  /** Asks a running one to end after the problem at hand. */
  public static void end() {
    last().ifPresent(w -> w.stopped = true);
  }

  private void run() {
    long begin = System.nanoTime();
    int solves = 0;
    String end = "";
    try {
      List<Runnable> round = work.begin();
      end = reason(begin, true);
      boolean first = true;
      while (end.isEmpty()) {
        double before = elapsed(begin);
        double compiled = compiled();
        for (Iterator<Runnable> it = round.iterator(); it.hasNext() && end.isEmpty(); ) {
          it.next().run();
          solves++;
          end = reason(begin, first && it.hasNext());
        }
        if (end.isEmpty() && first) {
          round = work.later(round);
        } else if (end.isEmpty() && compiled() - compiled <= SETTLED * (elapsed(begin) - before)) {
          end = "hardly anything left to compile";
        }
        first = false;
      }
    } catch (Exception | LinkageError | OutOfMemoryError e) {
      end = "failed";
      LOG.warn("warm-up: failed, so the first solve is slower: {}", e.toString());
    } finally {
      outcome = new Outcome(solves, elapsed(begin), end);
      LOG.info(
          String.format(
              Locale.ROOT, "warm-up: %d small solves, %s; %.3f s", solves, end, elapsed(begin)));
      ended.countDown();
    }
  }

  /**
   * Why to end now; empty: go on. Beside the first phases of a solve, up to its tasks, the first
   * round goes on: its later phases have not run yet.
   */
  private String reason(long begin, boolean firstRound) {
    if (stopped) {
      return "the application ends";
    }
    if (firstRound ? Foreground.working() : Foreground.entered()) {
      return "a solve began";
    }
    return elapsed(begin) > seconds ? "its time is over" : "";
  }

  private static double elapsed(long begin) {
    return (System.nanoTime() - begin) * 1e-9;
  }

  /** Seconds of compilation in this JVM so far; 0 if it does not tell. */
  private static double compiled() {
    CompilationMXBean compiler = ManagementFactory.getCompilationMXBean();
    return compiler == null || !compiler.isCompilationTimeMonitoringSupported()
        ? 0
        : compiler.getTotalCompilationTime() * 1e-3;
  }

  /** Waits for its end; false if that takes longer, or the thread is interrupted. */
  public boolean await(double longest) {
    try {
      return ended.await(Math.round(longest * 1e3), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** What it did, once it has ended. */
  public Outcome outcome() {
    return outcome;
  }
}
