/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering;

import io.sparqr.error.DimensionMismatchException;
import io.sparqr.sparse.Permutation;
import io.sparqr.sparse.SparsityPattern;
import java.util.Objects;

/** A permutation given by the caller. O(1). */
public final class Given implements ColumnOrdering {

  private final Permutation order;

  /** An ordering method that returns this order for every pattern. */
  public Given(Permutation order) {
    this.order = Objects.requireNonNull(order, "order");
  }

  /**
   * {@inheritDoc}
   *
   * @throws DimensionMismatchException if the order's size is not the number of columns
   */
  @Override
  public Permutation order(SparsityPattern pattern) {
    if (order.size() != pattern.columns()) {
      throw new DimensionMismatchException(
          "the given order has " + order.size() + " columns, the matrix " + pattern.columns(),
          "given order",
          pattern.columns(),
          order.size());
    }
    return order;
  }
}
