/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.List;
import java.util.Objects;

/**
 * Input of a subtree task's factorization.
 *
 * @param analysis the whole analysis
 * @param fronts the task's fronts, ascending (postorder)
 * @param rows the rows of A for these fronts, in their final order; any number of rows per front
 * @param inputs contribution blocks of the fronts' children that are in other tasks, any order
 */
public record SubtreeProblem(
    SymbolicAnalysis analysis, int[] fronts, RowBlock rows, List<ContributionBlock> inputs) {

  /** Checks for nulls and copies the list. */
  public SubtreeProblem {
    Objects.requireNonNull(analysis, "analysis");
    Objects.requireNonNull(fronts, "fronts");
    Objects.requireNonNull(rows, "rows");
    inputs = List.copyOf(inputs);
  }
}
