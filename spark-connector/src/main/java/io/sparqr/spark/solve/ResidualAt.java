/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.solve;

import java.io.Serializable;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Where a residual is taken, and how.
 *
 * @param x one vector for each right-hand side, by original column; none for x = 0
 * @param sums what is summed
 * @param factors {@link io.sparqr.spark.plan.SolvePlan#extraordinary}
 */
record ResidualAt(double @Nullable [][] x, Sums sums, double @Nullable [] factors)
    implements Serializable {

  /** What is summed. */
  enum Sums {
    /** r = b - Ax and A'r. */
    PLAIN,

    /**
     * As above, with r as if computed in twice the precision: where columns are nearly dependent, x
     * is so large that the rounding errors of b - Ax would be larger than r.
     */
    COMPENSATED,

    /** s = |b| + |A| |x| and |A|'s. */
    SIZES
  }

  /** The number of right-hand sides; -1: that of the rows. */
  int width() {
    return x == null ? -1 : x.length;
  }

  /** The vectors x, of which there must be some, then the factors. */
  double[][] vectors() {
    double[][] x = Objects.requireNonNull(this.x);
    double[][] all = Arrays.copyOf(x, x.length + 1);
    all[x.length] = factors;
    return all;
  }

  /** The inverse of {@link #vectors}, without a copy. */
  static ResidualAt of(double[][] vectors, Sums sums) {
    int last = vectors.length - 1;
    return new ResidualAt(Arrays.copyOf(vectors, last), sums, vectors[last]);
  }

  /** A copy, for tasks that may outlive a change of x. */
  ResidualAt copy() {
    return x == null
        ? this
        : new ResidualAt(
            Arrays.stream(x).map(double[]::clone).toArray(double[][]::new), sums, factors);
  }
}
