/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factor;

import io.sparqr.numeric.Probe;
import io.sparqr.partition.SubtreeTask;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.stored.TaskOutput;
import java.io.Serializable;
import java.util.Iterator;

/**
 * How a task solves with its R as soon as it has factored it, when nothing but x is wanted: R is
 * then neither kept nor, on a device, downloaded. For plans of one level, whose tasks have whole
 * trees.
 */
public interface TaskSolution extends Serializable {

  /**
   * Solves R x = Q'b on the host.
   *
   * @param content what the task would have kept: its report, then R
   * @param threads threads for each task
   * @return a frame with x at the task's pivots, and the solution for the {@link Probe}
   */
  byte[] of(SolvePlan plan, Iterator<TaskOutput> content, int[] threads);

  /**
   * As above, for a solution of the backend.
   *
   * @param x at the task's pivots, in order, a value for each right-hand side and the probe
   */
  byte[] of(SolvePlan plan, SubtreeTask task, double[] x);
}
