/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.lowrank;

import io.sparqr.numeric.dense.SmallDense;

/**
 * Singular values of a matrix with n columns, and its right singular vectors.
 *
 * @param sigma size n, descending
 * @param vt V', n x n, column-major
 */
public record RightSvd(double[] sigma, double[] vt) {

  /**
   * By LAPACK, of the matrix's R.
   *
   * @param r n x n, column-major
   */
  public static RightSvd of(double[] r, int n) {
    double[] sigma = new double[n];
    double[] vt = new double[n * n];
    SmallDense.svdWithoutU(r, n, sigma, vt);
    return new RightSvd(sigma, vt);
  }
}
