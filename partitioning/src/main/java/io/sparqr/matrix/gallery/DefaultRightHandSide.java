/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.matrix.gallery;

import io.sparqr.sparse.CsrMatrix;

/**
 * The right-hand side of a problem without one: b = A 1 + p. The perturbation p_i of row i is the
 * row's 2-norm (1 for an empty row) times a number in [-0.5, 0.5) that depends on i alone, so that
 * the answer is near 1, the residual is not zero, and b does not depend on the split of the rows.
 */
public final class DefaultRightHandSide {

  private DefaultRightHandSide() {}

  /** b, size m. O(nnz). */
  public static double[] of(CsrMatrix a) {
    double[] b = new double[a.rows()];
    for (int i = 0; i < a.rows(); i++) {
      b[i] = label(i, a.values(), a.rowStart()[i], a.rowStart()[i + 1]);
    }
    return b;
  }

  /**
   * b_i for one row.
   *
   * @param row i
   * @param values the row's values at [from, to)
   */
  public static double label(long row, double[] values, int from, int to) {
    double sum = 0;
    double largest = 0;
    for (int k = from; k < to; k++) {
      sum += values[k];
      largest = Math.max(largest, Math.abs(values[k]));
    }
    // Scaled: squares of large entries overflow.
    double squares = 0;
    for (int k = from; k < to && largest > 0; k++) {
      squares += (values[k] / largest) * (values[k] / largest);
    }
    double norm = largest * Math.sqrt(squares);
    double uniform = (GalleryRandom.mix(row + 1) >>> 11) * 0x1p-53 - 0.5;
    return sum + (from == to ? 1 : norm) * uniform;
  }
}
