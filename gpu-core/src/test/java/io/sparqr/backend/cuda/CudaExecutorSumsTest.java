/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import io.sparqr.backend.schedule.SchedulerOptions;
import io.sparqr.backend.staged.executor.RoundExecutor;
import io.sparqr.numeric.integrity.ExecutorSumsContract;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;

/** On a device. */
@Tag("gpu")
class CudaExecutorSumsTest extends ExecutorSumsContract {

  private final DeviceSessions.Lease lease = new DeviceSessions(TestDevice.driver(), 0).acquire(0);

  @AfterEach
  void close() {
    lease.close();
  }

  @Override
  protected RoundExecutor executor() {
    return new CudaRoundExecutor(
        lease.session(), 0, 2, SchedulerOptions.defaults(), TestModes.none());
  }
}
