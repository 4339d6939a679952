/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.backend.cuda.driver.CudaCalls;
import io.sparqr.backend.cuda.driver.CudaModule;
import io.sparqr.backend.cuda.driver.FaultyCalls;
import io.sparqr.backend.cuda.transfer.StageMemory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUfunction;
import jcuda.driver.CUstream;
import org.junit.jupiter.api.Test;

/** Launches are cut where a fault is due, and memory is changed in between; needs no device. */
class FaultyLaunchesTest {

  private final List<String> seen = new ArrayList<>();
  private long word = 5;

  private final FaultyLaunches launches =
      new FaultyLaunches(
          FaultyCalls.of(
              null,
              (call, a) -> {
                switch (call) {
                  case "launch" -> seen.add("launch " + a[1] + " from " + a[6]);
                  case "hostAllocate" ->
                      ((CudaCalls.HostMemory) a[0]).view =
                          ByteBuffer.allocate(4096).order(ByteOrder.nativeOrder());
                  case "copyToHostAsync" -> {
                    var view = ((CudaCalls.HostMemory) a[0]).view;
                    view.duplicate().order(ByteOrder.nativeOrder()).putLong(0, word);
                  }
                  case "copyToDeviceAsync" -> {
                    var view = ((CudaCalls.HostMemory) a[1]).view;
                    word = view.duplicate().order(ByteOrder.nativeOrder()).getLong(0);
                    seen.add("word " + word);
                  }
                  default -> {}
                }
                return null;
              }));

  private void launch(int blocks, long first, long progress) {
    ByteBuffer stage = ByteBuffer.allocate(CudaModule.STAGE_BYTES).order(ByteOrder.nativeOrder());
    stage.putLong(8 * StageMemory.Part.PROGRESS.ordinal(), progress);
    launches.calls().launch(new CUfunction(), blocks, 128, 0, new CUstream(), stage, first);
  }

  private boolean flip(long next) {
    seen.add("next " + next);
    ByteBuffer b = launches.down(new CUdeviceptr(), 8);
    b.putLong(0, b.getLong(0) ^ 1);
    launches.up(new CUdeviceptr(), 8);
    return true;
  }

  @Test
  void aLaunchIsCutWhereTheFaultIsDue() {
    launches.arm(this::flip, 13);
    launch(10, 0, 1);
    launch(10, 10, 1);
    launch(10, 20, 1);
    assertThat(launches.tasks()).isEqualTo(30);
    assertThat(seen)
        .containsExactly(
            "launch 10 from 0",
            "launch 3 from 10",
            "next 13",
            "word 4",
            "launch 7 from 13",
            "launch 10 from 20");
  }

  @Test
  void atTheEndsNothingIsLaunchedEmpty() {
    launches.arm(this::flip, 0);
    launch(10, 0, 1);
    assertThat(seen).containsExactly("next 0", "word 4", "launch 10 from 0");
    seen.clear();
    launches.arm(this::flip, 10);
    launch(10, 0, 1);
    assertThat(seen).containsExactly("launch 10 from 0", "next 10", "word 5");
  }

  @Test
  void whatCannotBeDoneIsTriedAgainAndListsThatFetchAreLeftAlone() {
    int[] asked = {0};
    launches.arm(next -> ++asked[0] == 2, 5);
    launch(10, 0, 1);
    launch(4, 0, 0);
    launch(10, 10, 1);
    launch(10, 20, 1);
    assertThat(asked[0]).isEqualTo(2);
    assertThat(seen)
        .containsExactly(
            "launch 5 from 0",
            "launch 5 from 5",
            "launch 4 from 0",
            "launch 10 from 10",
            "launch 10 from 20");
    seen.clear();
    launches.arm(null, 0);
    launch(10, 0, 1);
    assertThat(seen).containsExactly("launch 10 from 0");
  }
}
