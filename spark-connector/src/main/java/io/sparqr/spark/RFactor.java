/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import io.sparqr.sparse.CsrMatrix;
import io.sparqr.sparse.Permutation;

/**
 * R on the driver: A D P = Q R, R'R = P'D A'A D P.
 *
 * @param matrix rank x n upper trapezoidal; columns are positions of the order P, diagonal positive
 *     but for singleton rows, which stand as they are
 * @param permutation P
 * @param scale D: column j of A was multiplied by scale[j]
 * @param rhs size rank * rhsCount, row-major: Q'b
 */
public record RFactor(CsrMatrix matrix, Permutation permutation, double[] scale, double[] rhs) {

  /** The size; the entries are many. */
  @Override
  public String toString() {
    return "RFactor[%,d x %,d, %,d nonzeros]"
        .formatted(matrix.rows(), matrix.columns(), matrix.nonzeros());
  }
}
