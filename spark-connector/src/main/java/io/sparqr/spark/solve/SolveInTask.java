/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.solve;

import io.sparqr.numeric.Probe;
import io.sparqr.partition.SubtreeTask;
import io.sparqr.spark.factor.TaskSolution;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.stored.TaskOutput;
import io.sparqr.spark.wire.VectorCodec;
import io.sparqr.spark.wire.VectorCodec.Sparse;
import java.util.Iterator;

/** Back substitution within the task that factored a whole tree. */
public enum SolveInTask implements TaskSolution {
  /** Stateless. */
  INSTANCE;

  @Override
  public byte[] of(SolvePlan plan, Iterator<TaskOutput> content, int[] threads) {
    var outside = new Sparse(new int[0], new double[0], width(plan));
    return TriangularSolve.back(plan, content, outside, true, threads);
  }

  @Override
  public byte[] of(SolvePlan plan, SubtreeTask task, double[] x) {
    int[] pivots = TaskColumns.pivots(plan.analysis(), task);
    return VectorCodec.encodeSparse(new Sparse(pivots, x, width(plan)));
  }

  private static int width(SolvePlan plan) {
    return plan.numbers().rhsCount() + Probe.COUNT;
  }
}
