/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import java.util.List;

/**
 * Result of a subtree task, all in host memory.
 *
 * @param fronts the rows of R, one entry a front of the task, in the task's order
 * @param outputs contribution blocks of fronts whose parent is outside the task and that have rows
 *     to pass, ascending by front
 * @param residualSquares size rhsCount: sums of squares of the entries of Q'b that end here (rows
 *     that no pivot and no contribution block took)
 * @param summary what was done
 * @param reflectors Q of each front in the task's order if it was asked for ({@link
 *     FactorOptions#keepQ}), else empty; not copied: whoever encodes them may set entries to null
 *     on the way, so that Q is not in memory twice
 */
public record SubtreeFactor(
    List<FrontFactor> fronts,
    List<ContributionBlock> outputs,
    double[] residualSquares,
    FactorSummary summary,
    List<FrontReflectors> reflectors) {

  /** Copies the lists of R and of the blocks. */
  public SubtreeFactor {
    fronts = List.copyOf(fronts);
    outputs = List.copyOf(outputs);
  }

  /** Without Q. */
  public SubtreeFactor(
      List<FrontFactor> fronts,
      List<ContributionBlock> outputs,
      double[] residualSquares,
      FactorSummary summary) {
    this(fronts, outputs, residualSquares, summary, List.of());
  }

  /**
   * Checks that the rows of R are what they were when they came from where they were made, if it is
   * known. For a reader to whom no other check will tell. O(values).
   *
   * @throws io.sparqr.error.NumericalIntegrityException if a bit has changed
   */
  public void verify() {
    for (FrontFactor f : fronts) {
      f.requireSame(BitChecksum.sum(f.values()) + BitChecksum.sum(f.rhs()));
    }
  }
}
