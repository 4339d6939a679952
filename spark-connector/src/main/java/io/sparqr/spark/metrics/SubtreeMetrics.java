/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.metrics;

import io.sparqr.numeric.FactorSummary;
import io.sparqr.spark.engine.Engine;
import io.sparqr.spark.engine.Foreground;
import io.sparqr.spark.wire.ObjectCodec;
import java.io.Serializable;
import java.util.List;
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

  /**
   * Of an engine's tasks. Spark drops the accumulators once this object is garbage.
   *
   * @param profiled whether the tasks also tell their time and place
   */
  public SubtreeMetrics(Engine engine, boolean profiled) {
    work = WorkDone.of(engine);
    counted = engine.register(fronts, "sparqr fronts") && !Foreground.aside();
    engine.register(flops, "sparqr flops");
    engine.register(rows, "sparqr rows");
    engine.register(rBytes, "sparqr R bytes");
    engine.register(contributionBytes, "sparqr contribution bytes");
    engine.register(deviceWait, "sparqr device wait, ms");
    profiles = profiled ? new CollectionAccumulator<>() : null;
    if (profiles != null) {
      engine.register(profiles, "");
    }
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
