/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering.degree;

import io.sparqr.ordering.ColumnOrdering;
import io.sparqr.ordering.StopRequest;
import io.sparqr.sparse.Permutation;
import io.sparqr.sparse.SparsityPattern;

/**
 * Column approximate minimum degree: minimum degree on the graph of A'A, computed from A alone. The
 * rows of A are the elements of the first quotient graph (their cliques cover A'A); a pivot column
 * merges its rows into one, the scores are approximate external row degrees, and supercolumns,
 * aggressive row absorption and mass elimination work as in T. A. Davis, J. R. Gilbert, S. I.
 * Larimore, E. G. Ng, "A column approximate minimum degree ordering algorithm", ACM Trans. Math.
 * Softw. 30 (2004). Rows of more than max(16, 10 sqrt(n)) entries are left out; columns of more
 * than max(16, 10 sqrt(min(m, n))) entries go last, after them columns without an entry. Time
 * near-linear in the entries where there is little fill; memory 2.4 ints per entry of the distinct
 * rows and about ten ints per row and column.
 */
public final class Colamd implements ColumnOrdering {

  /**
   * {@inheritDoc}
   *
   * @throws io.sparqr.error.IndexOverflowException if the distinct rows have more than about 890
   *     million entries
   */
  @Override
  public Permutation order(SparsityPattern pattern) {
    return order(pattern, new StopRequest());
  }

  /**
   * As above, but may be given up.
   *
   * @throws java.util.concurrent.CancellationException if that is requested
   */
  public Permutation order(SparsityPattern pattern, StopRequest stop) {
    return RowCliques.of(pattern).order(0, true, () -> {}, stop);
  }
}
