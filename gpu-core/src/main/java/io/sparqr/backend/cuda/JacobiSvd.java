/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import io.sparqr.numeric.integrity.DenseSums;
import io.sparqr.numeric.integrity.IntegrityFailure;
import io.sparqr.numeric.lowrank.RightSvd;
import java.util.Arrays;
import java.util.Comparator;

/**
 * What the kernel of {@code dense/jacobi.cuh} leaves, sorted and checked: for a vector u of random
 * signs R'R u = V sigma^2 V'u, and the sum of all vectors has as many squares as there are vectors.
 * Of order n^2, as the way back is.
 */
final class JacobiSvd {

  /** SPARQR_JACOBI_SWEEPS. */
  static final int MOST_SWEEPS = 40;

  private static final double EPS = Math.ulp(1.0);

  private JacobiSvd() {}

  /**
   * The SVD of R.
   *
   * @param r n x n, row-major
   * @param out n singular values, then n vectors of n values
   * @param sweeps of the kernel
   * @throws IntegrityFailure if they are not R's, or the rotations have not ended
   */
  static RightSvd checked(double[] r, int n, double[] out, int sweeps) {
    if (sweeps < 1 || sweeps >= MOST_SWEEPS) {
      throw new IntegrityFailure("an SVD of %d columns after %d sweeps".formatted(n, sweeps));
    }
    Integer[] order = new Integer[n];
    Arrays.setAll(order, k -> k);
    Arrays.sort(order, Comparator.comparingDouble(k -> -out[k]));
    double[] sigma = new double[n];
    double[] vt = new double[n * n];
    for (int k = 0; k < n; k++) {
      sigma[k] = out[order[k]];
      for (int j = 0; j < n; j++) {
        vt[k + j * n] = out[n + order[k] * n + j];
      }
    }
    verify(r, n, sigma, vt);
    return new RightSvd(sigma, vt);
  }

  private static void verify(double[] r, int n, double[] sigma, double[] vt) {
    double[] u = DenseSums.signs(n);
    double[] image = new double[n];
    for (int i = 0; i < n; i++) {
      for (int k = i; k < n; k++) {
        image[i] += r[i * n + k] * u[k];
      }
    }
    double[] off = new double[n];
    for (int i = 0; i < n; i++) {
      for (int k = i; k < n; k++) {
        off[k] += r[i * n + k] * image[i];
      }
    }
    double[] all = new double[n];
    int vectors = 0;
    for (int k = 0; k < n; k++) {
      double inner = 0;
      for (int j = 0; j < n; j++) {
        inner += vt[k + j * n] * u[j];
        all[j] += vt[k + j * n];
      }
      vectors += sigma[k] > 0 ? 1 : 0;
      for (int j = 0; j < n; j++) {
        off[j] -= sigma[k] * sigma[k] * inner * vt[k + j * n];
      }
    }
    double departure = norm(off) / Math.max(sigma[0] * sigma[0], Double.MIN_NORMAL);
    double squares = norm(all) * norm(all) - vectors;
    // Rounding of n-fold sums: u has entries of at most 1/2.
    double most = 16 * EPS * n * Math.sqrt(n);
    if (!(departure <= most && Math.abs(squares) <= most * Math.sqrt(n))) {
      throw new IntegrityFailure(
          "an SVD of %d columns departs by %.2g, its vectors by %.2g; rounding explains %.2g"
              .formatted(n, departure, squares, most));
    }
  }

  private static double norm(double[] x) {
    double sum = 0;
    for (double each : x) {
      sum += each * each;
    }
    return Math.sqrt(sum);
  }
}
