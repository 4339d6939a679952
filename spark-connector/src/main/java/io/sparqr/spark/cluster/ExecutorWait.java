/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cluster;

import io.sparqr.spark.engine.Engine;
import io.sparqr.spark.engine.JobScope;
import io.sparqr.spark.engine.SparkErrors;
import io.sparqr.spark.plan.SolveOptions;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.concurrent.ExecutionException;
import org.apache.spark.SparkConf;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaFutureAction;
import org.apache.spark.api.java.JavaSparkContext;
import org.jspecify.annotations.Nullable;

/**
 * Waits for executors, so that the tree is cut for those requested rather than for those that
 * happen to be alive: Spark starts an application before all of them have registered, and under
 * dynamic allocation it only starts executors for which tasks are waiting.
 */
public final class ExecutorWait implements AutoCloseable {

  private static final String LONGEST = "spark.scheduler.maxRegisteredResourcesWaitingTime";
  private static final long POLL_MILLIS = 50;

  private final JavaSparkContext context;
  private final int minimum;
  private final double longest;
  private final ExpectedExecutors expected;
  private @Nullable JavaFutureAction<Void> demand;
  private int demanded;

  /**
   * The result of the wait.
   *
   * @param executors executors present; in local mode 1, the JVM
   * @param wanted executors waited for
   * @param seconds duration
   */
  public record Outcome(int executors, int wanted, double seconds) {

    /** A warning for the report. */
    public Optional<String> warning() {
      return executors >= wanted
          ? Optional.empty()
          : Optional.of(
              String.format(
                  Locale.ROOT,
                  "waited %.1f s for %d executors, %d came: planned for these",
                  seconds,
                  wanted,
                  executors));
    }
  }

  /** Notified if there is a wait. */
  public interface Listener {
    void waiting(int wanted, int there);
  }

  private ExecutorWait(JavaSparkContext context, int minimum, OptionalDouble longest) {
    this.context = context;
    this.minimum = minimum;
    SparkConf conf = context.getConf();
    this.longest = longest.orElse(conf.getTimeAsSeconds(LONGEST, "30s"));
    this.expected = ExpectedExecutors.of(conf);
  }

  /**
   * Waits.
   *
   * @throws IllegalArgumentException if dynamic allocation may not start as many executors as the
   *     options request
   */
  public static Outcome await(Engine engine, SolveOptions.Cut options, Listener listener) {
    if (ClusterResources.inDriver(engine)) {
      return new Outcome(1, 1, 0);
    }
    try (var wait =
        new ExecutorWait(
            engine.context(), options.minimumExecutors().orElse(0), options.executorWait())) {
      return wait.run(listener);
    }
  }

  private Outcome run(Listener listener) {
    if (minimum > expected.most()) {
      throw new IllegalArgumentException(
          "minimumExecutors = %d, but spark.dynamicAllocation.maxExecutors is %d"
              .formatted(minimum, expected.most()));
    }
    long begin = System.nanoTime();
    int there = Executor.of(context).size();
    int wanted = wanted(0);
    if (there < wanted) {
      listener.waiting(wanted, there);
    }
    double seconds = 0;
    while (there < wanted(seconds)) {
      demand();
      sleep();
      requireDemand();
      there = Executor.of(context).size();
      seconds = (System.nanoTime() - begin) * 1e-9;
    }
    return new Outcome(there, wanted, seconds);
  }

  /** Number of executors still worth waiting for after this many seconds. */
  private int wanted(double seconds) {
    double sinceStart = (System.currentTimeMillis() - context.startTime()) * 1e-3;
    double sparks = context.getConf().getTimeAsSeconds(LONGEST, "30s");
    return Math.max(
        seconds < longest ? minimum : 0, sinceStart < sparks ? expected.registered() : 0);
  }

  /**
   * Under dynamic allocation, runs tasks that fill the executors and do nothing, because Spark
   * starts executors only for waiting tasks. Adds more if executors turn out to have more slots
   * than expected.
   */
  private void demand() {
    if (!expected.dynamic() || minimum == 0) {
      return;
    }
    int slots = expected.slots();
    for (Executor e : Executor.of(context)) {
      slots = Math.max(slots, e.cores() / expected.taskCpus());
    }
    int tasks =
        (int)
            Math.min(
                Integer.MAX_VALUE,
                Math.ceil(minimum * (double) slots / expected.allocationRatio()));
    if (tasks > demanded) {
      close();
      demanded = tasks;
      List<Integer> one = Collections.nCopies(tasks, (int) Math.ceil(longest));
      demand =
          JobScope.named(
              context,
              "waiting for %d executors".formatted(minimum),
              () -> context.parallelize(one, tasks).foreachAsync(ExecutorWait::occupy));
    }
  }

  /** If the job is cancelled, the wait ends with an error, as any other phase would. */
  private void requireDemand() {
    if (demand != null && demand.isDone()) {
      JavaFutureAction<Void> ended = demand;
      demand = null;
      SparkErrors.unwrap(() -> outcome(ended));
    }
  }

  private static Void outcome(JavaFutureAction<Void> job) {
    try {
      return job.get();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while waiting for executors", e);
    } catch (ExecutionException e) {
      Throwable cause = Objects.requireNonNull(e.getCause());
      throw new IllegalStateException(SparkErrors.line(cause), cause);
    }
  }

  /** Occupies a slot until the job is cancelled, or for this many seconds. */
  private static void occupy(int seconds) throws InterruptedException {
    long end = System.nanoTime() + seconds * 1_000_000_000L;
    while (!TaskContext.get().isInterrupted() && System.nanoTime() < end) {
      Thread.sleep(POLL_MILLIS);
    }
  }

  private static void sleep() {
    try {
      Thread.sleep(POLL_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while waiting for executors", e);
    }
  }

  @Override
  public void close() {
    if (demand != null) {
      demand.cancel(true);
      demand = null;
    }
  }
}
