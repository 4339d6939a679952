/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factor;

import io.sparqr.error.InputChangedException;
import io.sparqr.error.InsufficientMemoryException;
import io.sparqr.error.SparseQrException;
import io.sparqr.partition.SubtreeTask;
import io.sparqr.spark.engine.Engine;
import io.sparqr.spark.stored.TaskOutput;
import io.sparqr.spark.wire.Frame;
import io.sparqr.spark.wire.ObjectCodec;
import java.io.Serializable;
import java.util.List;
import java.util.function.Supplier;
import org.apache.spark.TaskContext;
import org.jspecify.annotations.Nullable;

/**
 * A subtree task's error as its result. Spark tries a failing task four times, and a lack of memory
 * ends an executor. For an error that no further attempt can avoid, the task therefore returns it
 * in place of its report. It does so only while the driver is collecting the reports of its level;
 * a partition that is recomputed later, for its R or its blocks, throws.
 */
final class TaskRefusal {

  private static final String LEVEL = "sparqr-first-task-of-the-level";

  /** The error as it travels from the executor to the driver. */
  record Refused(SparseQrException error) implements Serializable {}

  private TaskRefusal() {}

  /**
   * The result of the task, or its error.
   *
   * @param first the first task of its level
   * @param context Spark's task context, or none without Spark, where exceptions reach the caller
   *     directly
   */
  static TaskResult guarded(
      SubtreeTask task, int first, @Nullable TaskContext context, Supplier<TaskResult> work) {
    try {
      return work.get();
    } catch (OutOfMemoryError | InsufficientMemoryException e) {
      InsufficientMemoryException ours = outOfMemory(task, e);
      if (isLookedFor(context, first)) {
        ours.initCause(e);
      }
      // If thrown, it must not have that cause, for which Spark would end an executor or a local
      // driver.
      return refused(ours, first, context);
    } catch (InputChangedException e) {
      return refused(e, first, context);
    }
  }

  private static TaskResult refused(SparseQrException e, int first, @Nullable TaskContext context) {
    if (!isLookedFor(context, first)) {
      throw e;
    }
    byte[] frame = ObjectCodec.encode(new Refused(e));
    return new TaskResult(
        List.of(), List.<TaskOutput>of(new TaskOutput.Refusal(frame)).iterator(), List.of(frame));
  }

  /** Whether the driver is collecting the reports of the level with this first task. */
  private static boolean isLookedFor(@Nullable TaskContext context, int first) {
    return context != null && Integer.toString(first).equals(context.getLocalProperty(LEVEL));
  }

  /**
   * Whether this is the first run of a task, so that nothing of it can be stored yet: the driver is
   * collecting the reports of its level, in the first attempt of the stage and of the task.
   *
   * @param first the first task of its level
   */
  static boolean isFirstRun(TaskContext context, int first) {
    return isLookedFor(context, first)
        && context.stageAttemptNumber() == 0
        && context.attemptNumber() == 0;
  }

  /**
   * Collects the first frames of a level.
   *
   * @param first its first task
   * @param reports the frames of each task
   * @throws SparseQrException the error of the lowest task that returned one
   */
  static List<List<byte[]>> lookingFor(
      Engine engine, int first, Supplier<List<List<byte[]>>> reports) {
    engine.property(LEVEL, Integer.toString(first));
    try {
      List<List<byte[]>> frames = reports.get();
      for (List<byte[]> ofTask : frames) {
        if (Frame.kind(ofTask.get(0)) == Frame.Kind.OBJECT) {
          throw ObjectCodec.decode(ofTask.get(0), Refused.class).error();
        }
      }
      return frames;
    } finally {
      engine.property(LEVEL, null);
    }
  }

  /** Describes the task, the plan's prediction for it, and the heap of its JVM. */
  private static InsufficientMemoryException outOfMemory(SubtreeTask task, Throwable e) {
    long heap = Runtime.getRuntime().maxMemory();
    String what =
        ("task %d (level %d, %,d fronts) ran out of memory: %,d MB were predicted for its"
                + " rows, fronts and blocks, the heap has %,d MB: %s; set spark.executor.memory, with a"
                + " local master spark.driver.memory")
            .formatted(
                task.id(),
                task.level() + 1,
                task.fronts().length,
                task.hostBytes() >> 20,
                heap >> 20,
                e.getMessage());
    return e instanceof InsufficientMemoryException m
        ? new InsufficientMemoryException(what, m.requiredBytes(), m.availableBytes())
        : new InsufficientMemoryException(what, task.hostBytes(), heap);
  }
}
