/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import io.sparqr.backend.cuda.driver.CudaDriver;
import io.sparqr.backend.cuda.transfer.StageMemory.Part;
import io.sparqr.backend.reference.UnknownTaskContract;
import io.sparqr.backend.schedule.SchedulerOptions;
import io.sparqr.backend.schedule.SpoiledTasks;
import io.sparqr.backend.schedule.TaskLayout;
import io.sparqr.backend.staged.executor.RoundExecutor;
import java.nio.ByteBuffer;
import jcuda.driver.CUdeviceptr;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;

/** On a device: the record is changed in its memory, before the stage's first task. */
@Tag("gpu")
class CudaUnknownTaskTest extends UnknownTaskContract {

  private final FaultyLaunches launches = new FaultyLaunches(TestDevice.driver().calls());
  private final DeviceSessions.Lease lease =
      new DeviceSessions(new CudaDriver(launches.calls()), 0).acquire(0);
  private CudaRoundExecutor executor;

  @AfterEach
  void close() {
    lease.close();
  }

  @Override
  protected RoundExecutor executor() {
    executor =
        new CudaRoundExecutor(lease.session(), 0, 2, SchedulerOptions.defaults(), TestModes.none());
    return executor;
  }

  @Override
  protected void plant(int place) {
    launches.arm(
        next -> {
          CUdeviceptr where =
              executor.memory.get(Part.TASKS).at((long) TaskLayout.TASK_BYTES * place);
          ByteBuffer record = launches.down(where, TaskLayout.TASK_BYTES);
          SpoiledTasks.kind(record, 0, KIND);
          launches.up(where, TaskLayout.TASK_BYTES);
          return true;
        },
        0);
  }
}
