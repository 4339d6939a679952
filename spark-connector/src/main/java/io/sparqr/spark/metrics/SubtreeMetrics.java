/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.metrics;

import io.sparqr.numeric.FactorSummary;
import io.sparqr.spark.wire.ObjectCodec;
import java.io.Serializable;
import java.util.List;
import org.apache.spark.SparkContext;
import org.apache.spark.util.CollectionAccumulator;
import org.apache.spark.util.LongAccumulator;

/**
 * What the subtree tasks of one factorization did, as named accumulators: Spark's stage page shows
 * them for each task and summed up. They count work, not results: a task that is run again counts
 * again. Each count goes to the JVM's {@link ExecutorMetrics} too.
 */
public final class SubtreeMetrics implements Serializable {

  private static final long serialVersionUID = 1;

  private final LongAccumulator fronts = new LongAccumulator();
  private final LongAccumulator flops = new LongAccumulator();
  private final LongAccumulator rows = new LongAccumulator();
  private final LongAccumulator rBytes = new LongAccumulator();
  private final LongAccumulator contributionBytes = new LongAccumulator();
  private final LongAccumulator deviceWait = new LongAccumulator();
  private final WorkDone work;

  /** Null: nobody asks when and where tasks ran. */
  private final CollectionAccumulator<byte[]> profiles;

  /** Registers the accumulators; Spark forgets them when nobody holds this any more. */
  public SubtreeMetrics(SparkContext context) {
    this(context, false);
  }

  /** The same, and, if asked for, when and where each task ran. */
  public SubtreeMetrics(SparkContext context, boolean profiled) {
    this(profiled, WorkDone.register(context));
    context.register(fronts, "sparqr fronts");
    context.register(flops, "sparqr flops");
    context.register(rows, "sparqr rows");
    context.register(rBytes, "sparqr R bytes");
    context.register(contributionBytes, "sparqr contribution bytes");
    context.register(deviceWait, "sparqr device wait, ms");
    if (profiled) {
      // without a name: nothing for Spark's pages
      context.register(profiles);
    }
  }

  private SubtreeMetrics(boolean profiled, WorkDone work) {
    this.work = work;
    this.profiles = profiled ? new CollectionAccumulator<>() : null;
  }

  /** Of tasks in this JVM, without Spark. */
  public static SubtreeMetrics local(boolean profiled) {
    return new SubtreeMetrics(profiled, WorkDone.local());
  }

  /** How far the tasks have come. */
  public WorkDone work() {
    return work;
  }

  /** A task begins; called in it. */
  public TaskProfile.Watch watch(int task, int threads) {
    return new TaskProfile.Watch(profiles, task, threads);
  }

  /** What ended tasks told of themselves, in any order; nothing where nobody asks. */
  public List<TaskProfile> profiles() {
    return profiles == null
        ? List.of()
        : profiles.value().stream()
            .map(told -> ObjectCodec.decode(told, TaskProfile.class))
            .toList();
  }

  /** Rows have arrived at a task: of A, combined ones as they came, and of the ridge. */
  public synchronized void arrived(long count) {
    rows.add(count);
    ExecutorMetrics.arrived(count);
  }

  /**
   * A task has factored its subtree.
   *
   * @param bytesOfR values of R
   * @param blockBytes encoded contribution blocks that go to other tasks
   */
  public synchronized void factored(FactorSummary summary, long bytesOfR, long blockBytes) {
    long work = Math.round(summary.flopsDone());
    fronts.add(summary.fronts());
    flops.add(work);
    rBytes.add(bytesOfR);
    contributionBytes.add(blockBytes);
    ExecutorMetrics.factored(summary.fronts(), work, bytesOfR, blockBytes);
  }

  /** A task has waited for its device. */
  public synchronized void waited(long nanos) {
    deviceWait.add(nanos / 1_000_000);
    ExecutorMetrics.waited(nanos);
  }
}
