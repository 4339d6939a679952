/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.model;

import io.sparqr.sparse.CsrMatrix;
import io.sparqr.sparse.Permutation;

/**
 * R on the driver: A D P = Q R, R'R = P'D A'A D P.
 *
 * @param matrix rank x n upper trapezoidal; columns are positions of the order P, diagonal positive
 *     except in singleton rows, which are kept as they are
 * @param permutation P
 * @param scale diagonal of D: column j of A is multiplied by scale[j]
 * @param rhs size rank * rhsCount, row-major: Q'b
 */
public record RFactor(CsrMatrix matrix, Permutation permutation, double[] scale, double[] rhs) {

  /** The size only, because there may be many entries. */
  @Override
  public String toString() {
    return "RFactor[%,d x %,d, %,d nonzeros]"
        .formatted(matrix.rows(), matrix.columns(), matrix.nonzeros());
  }
}
