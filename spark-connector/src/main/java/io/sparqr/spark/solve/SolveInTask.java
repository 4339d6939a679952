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
  /** With the solution for the {@link Probe}, which others go on with. */
  WITH_PROBE {
    @Override
    byte[] encoded(Sparse x) {
      return VectorCodec.encodeSparse(x);
    }
  },
  /** With its norm alone, where nothing else is asked of it: a vector less that travels. */
  WITH_NORM {
    @Override
    byte[] encoded(Sparse x) {
      int count = x.position().length;
      int rhs = x.width() - Probe.COUNT;
      double[] value = new double[count * rhs];
      for (int i = 0; i < count; i++) {
        System.arraycopy(x.value(), i * x.width(), value, i * rhs, rhs);
      }
      double norm = Norms.norm(x.value(), rhs, count, x.width());
      return VectorCodec.encodeSolution(new Sparse(x.position(), value, rhs), norm);
    }
  };

  /**
   * How the tasks of a plan solve after which R is gone. The solution for the probe is wanted where
   * columns in R have not the norm 1, to scale it, and at columns that singletons need.
   */
  public static SolveInTask of(SolvePlan plan) {
    boolean norm = plan.numbers().equilibrated() && plan.analysis().singletons() == 0;
    return norm ? WITH_NORM : WITH_PROBE;
  }

  abstract byte[] encoded(Sparse x);

  @Override
  public byte[] of(SolvePlan plan, Iterator<TaskOutput> content, int[] threads) {
    var outside = new Sparse(new int[0], new double[0], width(plan));
    return encoded(TriangularSolve.stored(plan, content, outside, threads));
  }

  @Override
  public byte[] of(SolvePlan plan, SubtreeTask task, double[] x) {
    return encoded(new Sparse(TaskColumns.pivots(plan.analysis(), task), x, width(plan)));
  }

  private static int width(SolvePlan plan) {
    return plan.numbers().rhsCount() + Probe.COUNT;
  }
}
