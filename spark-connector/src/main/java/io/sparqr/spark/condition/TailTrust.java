/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.condition;

import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.solve.NormSum;

/**
 * Whether the norm of the rest of Q'b, which costs nothing, is that of b - Ax for the x that is
 * returned. Q, R and x are exact for A + E and b + e, with ||E_j|| at most some eps ||a_j|| and
 * ||e|| some eps ||b||, so the norms differ by at most ||E x|| + ||e||, some eps (sum of |x_j|
 * ||a_j|| + ||b||). That is nothing unless columns are so nearly dependent that x is large where Ax
 * is not.
 */
public final class TailTrust {

  /** Multiples of eps in E and e that were never seen in tasks that balance, with a margin. */
  private static final double ERROR = 50 * Math.ulp(1.0);

  /** Relative error up to which a norm counts as right: a tenth of what is promised. */
  private static final double RELATIVE = 1e-7;

  private final SolvePlan plan;
  private final ColumnSizes sizes;

  /** For solutions of a plan, with columns of these sizes. */
  public TailTrust(SolvePlan plan, ColumnSizes sizes) {
    this.plan = plan;
    this.sizes = sizes;
  }

  /** ||x|| for columns of norm 1: the 2-norm of x_j ||a_j||. O(n). */
  public double size(double[] x) {
    var sum = new NormSum();
    for (int j = 0; j < x.length; j++) {
      if (x[j] != 0) {
        sum.add(sizes.share(plan, j, x[j]));
      }
    }
    return sum.norm();
  }

  /**
   * How far a norm that is computed with R may be from that of the rows of A.
   *
   * @param tail the norm of the rest of Q'b
   * @param x in the caller's units
   */
  public double error(double tail, double[] x) {
    // ||b|| <= tail + ||Ax||, and ||Ax|| is at most the sum of the columns' shares
    return ERROR * (tail + Math.sqrt(x.length) * size(x));
  }

  /** Whether an error is small beside a norm, as what is printed is promised to be. */
  public static boolean small(double error, double norm) {
    return error <= 10 * RELATIVE * norm;
  }

  /**
   * Whether a norm can be believed.
   *
   * @param norm the norm of the residual, computed from the tail
   * @param tail the norm of the rest of Q'b, with what has been subtracted from it since
   * @param x in the caller's units
   */
  public boolean of(double norm, double tail, double[] x) {
    double error = error(tail, x);
    if (tail == 0 || norm == 0) {
      return error == 0;
    }
    // d(norm) = tail / norm d(tail), where a part has been subtracted; no squares, which overflow
    return error * (tail / norm) <= RELATIVE * norm;
  }
}
