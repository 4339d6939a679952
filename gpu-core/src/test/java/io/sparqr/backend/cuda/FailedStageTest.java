/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.backend.cuda.driver.CudaCalls;
import io.sparqr.backend.cuda.driver.CudaDriver;
import io.sparqr.backend.cuda.driver.FaultyCalls;
import io.sparqr.backend.cuda.driver.KernelImage;
import io.sparqr.backend.cuda.resident.DeviceSession;
import io.sparqr.backend.cuda.transfer.FirstStage;
import io.sparqr.backend.schedule.SchedulerOptions;
import io.sparqr.backend.staged.executor.RoundExecutor;
import io.sparqr.backend.staged.layout.StageProgram;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A stage that fails while launches are under way; needs no device. */
@Timeout(60)
class FailedStageTest {

  private static final StageProgram PROGRAM = FirstStage.of("gen:cells3d12");

  private final List<String> calls = Collections.synchronizedList(new ArrayList<>());

  /** Calls of a device without kernels. */
  private CudaDriver driver() {
    return new CudaDriver(
        FaultyCalls.of(
            null,
            (call, a) -> {
              if (call.equals("hostAllocate")) {
                ((CudaCalls.HostMemory) a[0]).view =
                    ByteBuffer.allocateDirect((int) (long) a[1]).order(ByteOrder.nativeOrder());
              }
              calls.add(call);
              return null;
            }));
  }

  /** Values that are all zero. */
  private static final class Zeros implements RoundExecutor.StageInput {

    @Override
    public void writeS(int from, int to, DoubleBuffer target) {}

    @Override
    public List<Part> parts(int front, int doubles) {
      return List.of();
    }

    @Override
    public void writePart(Part part, DoubleBuffer target) {}

    @Override
    public void writeBlock(int block, long from, long to, DoubleBuffer target) {}
  }

  /** Rows that stay, and a failure as soon as all rounds are launched. */
  private static final class Failing implements RoundExecutor.RowSink {

    @Override
    public boolean later() {
      return true;
    }

    @Override
    public void underWay() {
      throw new IllegalStateException("planted");
    }

    @Override
    public void accept(int front, DoubleBuffer rows) {}
  }

  @Test
  void itEndsAfterItsLaunches() {
    try (var session = new DeviceSession(driver(), 0, new KernelImage(part -> new byte[0]));
        var executor =
            new CudaRoundExecutor(
                session, 1L << 40, 2, SchedulerOptions.defaults(), TestModes.none())) {
      assertThatThrownBy(() -> executor.execute(PROGRAM, new Zeros(), -1, new Failing()))
          .hasMessage("planted");
      int last = calls.lastIndexOf("launch");
      assertThat(last).as("launches").isNotNegative();
      assertThat(calls.subList(last, calls.size())).contains("streamSynchronize");
    }
  }
}
