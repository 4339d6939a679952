/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.reference;

import io.sparqr.backend.staged.executor.RoundExecutor;
import io.sparqr.numeric.integrity.ExecutorSumsContract;

/** On the plain executor. */
class ExecutorSumsTest extends ExecutorSumsContract {

  @Override
  protected RoundExecutor executor() {
    return new TaskListExecutor(FaultCampaign.MIXED);
  }
}
