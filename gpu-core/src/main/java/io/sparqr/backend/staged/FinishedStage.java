/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged;

import io.sparqr.backend.schedule.StageSchedule;
import io.sparqr.backend.staged.executor.RoundExecutor;
import io.sparqr.backend.staged.layout.StageProgram;
import io.sparqr.numeric.CompensatedSums;

/**
 * A stage whose rounds have ended, and what they left on the host.
 *
 * @param fronts of the stage, by number of the analysis
 * @param balance the stage's check, which has not compared anything yet
 * @param read sum of the bits of the upload
 * @param sink has the downloaded rows; none yet if they may stay on the executor
 */
record FinishedStage(
    StageProgram program,
    int[] fronts,
    RoundExecutor.Result result,
    StageBalance balance,
    long read,
    StageRows sink) {

  /** The squares of right-hand sides that end in the stage. */
  double[] ended() {
    int rhs = program.rhs();
    var ended = new CompensatedSums(rhs);
    for (int k = 0; k < result.residual().length; k += rhs) {
      ended.add(result.residual(), k);
    }
    return ended.values();
  }

  /**
   * Adds the squares of right-hand sides that end in a front to the task's and to the check.
   *
   * @param f place in the stage
   */
  void addResidual(int f, FactoredFronts done) {
    int rhs = program.rhs();
    StageSchedule s = program.schedule();
    for (int slot = s.residualStart(f); slot < s.residualStart(f + 1); slot++) {
      done.addResidual(result.residual(), slot * rhs);
      balance.outResidual(result.residual(), slot * rhs);
    }
  }
}
