/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import java.util.List;
import java.util.Optional;

/**
 * Result of a subtree task, all in host memory.
 *
 * @param fronts the rows of R, one entry per front of the task, in the task's order; empty if the
 *     task has a solution instead, or R has stayed where it was made and is nowhere else ({@link
 *     Residence#alone})
 * @param outputs the nonempty contribution blocks of fronts whose parent is outside the task,
 *     ascending by front
 * @param residualSquares size rhsCount: sums of squares of the entries of Q'b that end here (rows
 *     that belong to no pivot and no contribution block)
 * @param summary record of the work
 * @param reflectors Q of each front in the task's order if requested ({@link FactorOptions#keepQ}),
 *     else empty; not copied: an encoder may set entries to null as it goes, so that Q is not in
 *     memory twice
 * @param solution x instead of R, if only x was asked for ({@link FactorOptions#solutionOnly}) and
 *     the backend could solve where R was
 * @param residence R where it was made, beside {@code fronts} or alone; owned by the receiver
 */
public record SubtreeFactor(
    List<FrontFactor> fronts,
    List<ContributionBlock> outputs,
    double[] residualSquares,
    FactorSummary summary,
    List<FrontReflectors> reflectors,
    Optional<SubtreeSolution> solution,
    Residence residence) {

  /** Copies the lists of R and of the blocks. */
  public SubtreeFactor {
    fronts = List.copyOf(fronts);
    outputs = List.copyOf(outputs);
  }

  /** A factor whose Householder vectors are not kept. */
  public SubtreeFactor(
      List<FrontFactor> fronts,
      List<ContributionBlock> outputs,
      double[] residualSquares,
      FactorSummary summary) {
    this(fronts, outputs, residualSquares, summary, List.of());
  }

  /** A factor that is not solved, with R on the host. */
  public SubtreeFactor(
      List<FrontFactor> fronts,
      List<ContributionBlock> outputs,
      double[] residualSquares,
      FactorSummary summary,
      List<FrontReflectors> reflectors) {
    this(fronts, outputs, residualSquares, summary, reflectors, Optional.empty(), Residence.NONE);
  }

  /** A copy with another summary. */
  public SubtreeFactor with(FactorSummary other) {
    return new SubtreeFactor(
        fronts, outputs, residualSquares, other, reflectors, solution, residence);
  }

  /**
   * Checks that the rows of R are unchanged since they were made, if they have checksums. For
   * readers without any other check. O(values).
   *
   * @throws io.sparqr.error.NumericalIntegrityException if a bit has changed
   */
  public void verify() {
    for (FrontFactor f : fronts) {
      f.requireSame(f.sum());
    }
  }
}
