/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.metrics;

import io.sparqr.numeric.FactorSummary;
import io.sparqr.spark.engine.Foreground;
import io.sparqr.spark.wire.ObjectCodec;
import java.io.Serializable;
import java.util.List;
import org.apache.spark.SparkContext;
import org.apache.spark.util.CollectionAccumulator;
import org.apache.spark.util.LongAccumulator;
import org.jspecify.annotations.Nullable;

/**
 * The work of the subtree tasks of one factorization, as named accumulators: Spark's stage page
 * shows them for each task and in total. They count work, not results: a repeated task counts
 * again. Counts of Spark's tasks also go to the {@link ExecutorMetrics} of the JVM.
 */
public final class SubtreeMetrics implements Serializable {

  private static final long serialVersionUID = 2;

  private final LongAccumulator fronts = new LongAccumulator();
  private final LongAccumulator flops = new LongAccumulator();
  private final LongAccumulator rows = new LongAccumulator();
  private final LongAccumulator rBytes = new LongAccumulator();
  private final LongAccumulator contributionBytes = new LongAccumulator();
  private final LongAccumulator deviceWait = new LongAccumulator();
  private final WorkDone work;

  /** Whether they count for the executor: tasks of Spark, for a user. */
  private final boolean counted;

  /** Null if no profile was requested. */
  private final @Nullable CollectionAccumulator<byte[]> profiles;

  /** Registers the accumulators; Spark drops them once this object is garbage. */
  public SubtreeMetrics(SparkContext context) {
    this(context, false);
  }

  /** As above and, if requested, the time and place of each task. */
  public SubtreeMetrics(SparkContext context, boolean profiled) {
    this(profiled, WorkDone.register(context), !Foreground.aside());
    context.register(fronts, "sparqr fronts");
    context.register(flops, "sparqr flops");
    context.register(rows, "sparqr rows");
    context.register(rBytes, "sparqr R bytes");
    context.register(contributionBytes, "sparqr contribution bytes");
    context.register(deviceWait, "sparqr device wait, ms");
    if (profiled) {
      // Without a name, so that it does not appear on Spark's pages.
      context.register(profiles);
    }
  }

  private SubtreeMetrics(boolean profiled, WorkDone work, boolean counted) {
    this.work = work;
    this.counted = counted;
    this.profiles = profiled ? new CollectionAccumulator<>() : null;
  }

  /** For tasks in this JVM, without Spark. */
  public static SubtreeMetrics local(boolean profiled) {
    return new SubtreeMetrics(profiled, WorkDone.local(), false);
  }

  /** The progress of the tasks. */
  public WorkDone work() {
    return work;
  }

  /** Starts watching a task; called within the task. */
  public TaskProfile.Watch watch(int task, int threads) {
    if (counted) {
      Foreground.work();
    }
    return new TaskProfile.Watch(profiles, task, threads);
  }

  /** The profiles of finished tasks, in any order; empty if not requested. */
  public List<TaskProfile> profiles() {
    return profiles == null
        ? List.of()
        : profiles.value().stream()
            .map(told -> ObjectCodec.decode(told, TaskProfile.class))
            .toList();
  }

  /** Counts rows received by a task: of A, combined ones as received, and of the ridge. */
  public synchronized void arrived(long count) {
    rows.add(count);
    if (counted) {
      ExecutorMetrics.ofJvm().arrived(count);
    }
  }

  /**
   * Counts the factorization of a subtree.
   *
   * @param bytesOfR values of R
   * @param blockBytes encoded contribution blocks sent to other tasks
   */
  public synchronized void factored(FactorSummary summary, long bytesOfR, long blockBytes) {
    long work = Math.round(summary.flopsDone());
    fronts.add(summary.fronts());
    flops.add(work);
    rBytes.add(bytesOfR);
    contributionBytes.add(blockBytes);
    if (counted) {
      ExecutorMetrics.ofJvm().factored(summary.fronts(), work, bytesOfR, blockBytes);
    }
  }

  /** Counts the time a task waited for its device. */
  public synchronized void waited(long nanos) {
    deviceWait.add(nanos / 1_000_000);
    if (counted) {
      ExecutorMetrics.ofJvm().waited(nanos);
    }
  }
}
