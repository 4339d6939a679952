/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.dependence;

import io.sparqr.numeric.SingletonRows;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.resource.JobScope;
import io.sparqr.spark.solve.LevelSolve;
import java.util.ArrayList;
import java.util.List;

/**
 * A basis of the null space of A (columns equilibrated) from R: for each dead column the vector
 * that is 1 there, 0 in the other dead columns, and otherwise determined by R x = 0. Computed by
 * back substitutions in batches; only nonzeros are stored, because in regression designs a vector
 * seldom extends beyond a connected component.
 */
final class NullSpace {

  private static final int BATCH = 64;

  /** Maximum number of values in a batch, 64 MB. */
  private static final long BATCH_VALUES = 8 << 20;

  /** Bytes per nonzero. */
  static final long ENTRY_BYTES = 12;

  /** Values below this fraction of a vector's largest are rounding errors of the substitution. */
  private static final double DROP = 1e-13;

  private NullSpace() {}

  /**
   * The basis, by original column.
   *
   * @param dead original indices
   * @param most maximum bytes for the basis
   * @return null if it needs more
   */
  static List<SparseVector> of(
      SolvePlan plan,
      LevelSolve solve,
      SingletonRows singletons,
      int[] dead,
      long most,
      JobScope scope) {
    int n = plan.analysis().columns();
    int batch = (int) Math.max(1, Math.min(BATCH, BATCH_VALUES / n));
    var basis = new ArrayList<SparseVector>();
    long bytes = 0;
    for (int from = 0; from < dead.length; from += batch) {
      int width = Math.min(batch, dead.length - from);
      double[] z = plan.vector(width);
      for (int k = 0; k < width; k++) {
        z[plan.position(dead[from + k]) * width + k] = 1;
      }
      solve.homogeneous(z, width, scope);
      singletons.backSubstitute(z, z, width);
      double[] byColumn = byColumn(plan, z, width);
      for (int k = 0; k < width; k++) {
        SparseVector v = SparseVector.of(byColumn, k, width, DROP);
        bytes += ENTRY_BYTES * v.count();
        if (bytes > most) {
          return null;
        }
        basis.add(v);
      }
    }
    return basis;
  }

  private static double[] byColumn(SolvePlan plan, double[] z, int width) {
    double[] x = new double[z.length];
    for (int p = 0; p < z.length / width; p++) {
      int j = plan.analysis().permutation().original(p);
      System.arraycopy(z, p * width, x, j * width, width);
    }
    return x;
  }
}
