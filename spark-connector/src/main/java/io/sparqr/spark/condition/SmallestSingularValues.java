/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.condition;

import java.util.Arrays;
import java.util.Objects;
import java.util.stream.IntStream;
import org.apache.commons.math3.linear.Array2DRowRealMatrix;
import org.apache.commons.math3.linear.SingularValueDecomposition;

/**
 * The smallest singular values of R and their right singular vectors, by subspace iteration with
 * R^-T and R^-1 (Golub and Van Loan 2013, Matrix Computations, section 8.6). The vectors are made
 * orthonormal after each solve, so that a product of R^-1 and R^-T, whose entries would reach 1 /
 * eps^2, is never formed. A step takes two readings of R for all vectors at once.
 *
 * @param sigma ascending; upper bounds of R's smallest singular values, in a few steps within a few
 *     percent of them
 * @param vectors n x count by position, row-major: right singular vectors, in this order
 */
record SmallestSingularValues(double[] sigma, double[] vectors) {

  /** The largest number of steps of inverse iteration. */
  private static final int MOST_STEPS = 6;

  /** A change of the smallest value below this fraction ends the iteration. */
  private static final double SETTLED = 0.05;

  /** Vectors. */
  int count() {
    return sigma.length;
  }

  /** The values of at most a limit. */
  int countTo(double limit) {
    return (int) Arrays.stream(sigma).filter(s -> s <= limit).count();
  }

  /** One of the vectors, by position. */
  double[] vector(int k) {
    int n = vectors.length / count();
    return IntStream.range(0, n).mapToDouble(p -> vectors[p * count() + k]).toArray();
  }

  /**
   * Iterates until the smallest value, and the number of those below a limit, have settled.
   *
   * @param v n x width by position, 0 in dependent columns: vectors to begin with; overwritten
   */
  static SmallestSingularValues of(ScaledFactor r, double[] v, int width, double limit) {
    Orthonormal.of(v, width);
    SmallestSingularValues last = null;
    for (int step = 0; step < MOST_STEPS; step++) {
      r.inverseTransposed(v, width);
      if (!finite(v)) {
        return singular(v.length, width);
      }
      Orthonormal.of(v, width);
      r.inverse(v, width);
      if (!finite(v)) {
        return singular(v.length, width);
      }
      SmallestSingularValues now = of(v, width);
      boolean settled =
          last != null
              && now.sigma[0] >= (1 - SETTLED) * last.sigma[0]
              && now.countTo(limit) == last.countTo(limit);
      last = now;
      if (settled) {
        break;
      }
    }
    return Objects.requireNonNull(last);
  }

  /** From R^-1 U, U orthonormal; leaves the vectors in v. */
  private static SmallestSingularValues of(double[] v, int width) {
    double[][] t = Orthonormal.of(v, width);
    var svd = new SingularValueDecomposition(new Array2DRowRealMatrix(t, false));
    double[] inverse = svd.getSingularValues();
    Orthonormal.times(v, width, svd.getU().getData());
    double[] sigma = new double[width];
    for (int k = 0; k < width; k++) {
      sigma[k] = 1 / inverse[k];
    }
    return new SmallestSingularValues(sigma, v.clone());
  }

  private static boolean finite(double[] v) {
    return Arrays.stream(v).allMatch(Double::isFinite);
  }

  /** R is singular beyond what its inverse can show: no vectors. */
  private static SmallestSingularValues singular(int length, int width) {
    return new SmallestSingularValues(new double[width], new double[length]);
  }
}
