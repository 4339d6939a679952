/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged;

import io.sparqr.backend.schedule.FrontDescriptor;
import io.sparqr.backend.schedule.TaskLayout;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.SubtreeSolution;
import io.sparqr.numeric.integrity.IntegrityFailure;

/**
 * R x = Q'b on the executor, for a stage that is a whole task and has all columns of its tree: then
 * R itself is not needed.
 */
final class StageSolve {

  private StageSolve() {}

  /** Whether the rows of a stage may stay on the executor, for a solve there. O(fronts). */
  static boolean stays(
      RoundExecutor executor, StageProgram program, SubtreeProblem problem, FactorOptions options) {
    if (!options.solutionOnly() || options.safe() || options.keepQ() || program.rhs() == 0) {
      return false;
    }
    int pivots = 0;
    for (int f : problem.fronts()) {
      pivots += problem.analysis().fp(f);
    }
    return program.fronts() == problem.fronts().length
        && program.columns().count() == pivots
        && executor.solves(program);
  }

  /** Whether every pivot of a stage is live. */
  static boolean sound(RoundExecutor.Result result) {
    for (int state : result.state()) {
      if (state != TaskLayout.STATE_SOUND) {
        return false;
      }
    }
    return true;
  }

  /**
   * Solves for a sound stage, the executor's last.
   *
   * @throws IntegrityFailure if the backward error is larger than rounding explains
   */
  static SubtreeSolution run(RoundExecutor executor, StageProgram program) {
    RoundExecutor.Solved solved = executor.backSubstitute(program);
    int columns = 0;
    int rank = 0;
    long entries = 0;
    for (int f = 0; f < program.fronts(); f++) {
      FrontDescriptor d = program.descriptor(f);
      columns = Math.max(columns, d.fn());
      rank += d.fp();
      entries += d.packedDoubles(0, d.fp()) - (long) d.fp() * d.rhs();
    }
    if (!(solved.backwardError() <= bound(columns))) {
      throw new IntegrityFailure(
          "back substitution has the backward error %.2e".formatted(solved.backwardError()));
    }
    return new SubtreeSolution(solved.x(), rank, entries);
  }

  /**
   * Twice the bound of back substitution with fronts of n columns, n u (Higham, Accuracy and
   * Stability of Numerical Algorithms, Theorem 8.5): as much again for the rounding of the error
   * itself.
   */
  private static double bound(int columns) {
    return (columns + 8) * Math.ulp(1.0);
  }
}
