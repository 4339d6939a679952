/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering;

import io.sparqr.sparse.Permutation;
import io.sparqr.sparse.SparsityPattern;

/** The columns in their given order. O(n). */
public final class Natural implements ColumnOrdering {

  @Override
  public Permutation order(SparsityPattern pattern) {
    return Permutation.identity(pattern.columns());
  }
}
