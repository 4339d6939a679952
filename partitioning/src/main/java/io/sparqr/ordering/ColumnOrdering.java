/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering;

import io.sparqr.sparse.Permutation;
import io.sparqr.sparse.SparsityPattern;

/** A fill-reducing order of the columns of A for the QR factorization of AP. Stateless. */
public interface ColumnOrdering {

  /**
   * Orders the columns.
   *
   * @param pattern m x n pattern; singletons already removed by the caller
   * @return P, size n; the same for the same pattern on any machine and number of threads
   */
  Permutation order(SparsityPattern pattern);
}
