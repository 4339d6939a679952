/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda.resident;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.backend.cuda.driver.CudaDriver;
import io.sparqr.backend.cuda.driver.CudaStream;
import io.sparqr.backend.cuda.driver.DeviceBuffer;
import io.sparqr.backend.cuda.driver.FaultyCalls;
import io.sparqr.backend.cuda.driver.LiveResources;
import io.sparqr.error.CudaException;
import io.sparqr.numeric.storage.RowBudget;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Which memory rows hold where, whatever fails on their way. Needs no device. */
class MovableRowsTest {

  /** More than two slabs. */
  private static final long BYTES = 5L << 30;

  private static final int NOT_READY = 600;

  private final List<String> calls = new ArrayList<>();
  private final Map<String, Integer> failing = new ConcurrentHashMap<>();
  private final RowBudget budget = new RowBudget(BYTES);
  private final CudaDriver driver =
      new CudaDriver(
          FaultyCalls.of(
              null,
              (call, a) -> {
                calls.add(call);
                return failing.get(call);
              }));
  private long before;
  private CudaStream stream;
  private MovableRows rows;

  @BeforeEach
  void onDevice() {
    before = LiveResources.total();
    stream = new CudaStream(driver);
    rows = new MovableRows(driver, budget, new DeviceBuffer(driver, BYTES));
    calls.clear();
  }

  @AfterEach
  void nothingIsLeft() {
    failing.clear();
    rows.close();
    stream.close();
    assertThat(budget.memoryBytes()).isZero();
    assertThat(LiveResources.total()).isEqualTo(before);
  }

  private void assertThatRowsAreOn(boolean device, boolean host) {
    assertThat(rows.onDevice().isPresent()).isEqualTo(device);
    assertThat(rows.deviceBytes()).isEqualTo(device ? BYTES : 0);
    assertThat(rows.onHost().isPresent()).isEqualTo(host);
    assertThat(rows.address().isPresent()).isEqualTo(device);
    assertThat(budget.memoryBytes()).isEqualTo(host ? BYTES : 0);
    assertThat(LiveResources.total() - before).isEqualTo(1 + (device ? 1 : 0) + (host ? 3 : 0));
  }

  @Test
  void theyAreCopiedToTheHostOnce() {
    assertThatRowsAreOn(true, false);
    assertThat(rows.toHost(stream)).isTrue();
    assertThatRowsAreOn(false, true);
    assertThat(calls)
        .containsExactly(
            "hostAllocate",
            "hostAllocate",
            "hostAllocate",
            "copyToHostAsync",
            "copyToHostAsync",
            "copyToHostAsync",
            "streamSynchronize",
            "memoryFree");
    assertThat(rows.toHost(stream)).isTrue();
    calls.clear();
    assertThat(rows.toDevice(stream)).isTrue();
    assertThat(calls)
        .containsExactly(
            "memoryAllocate", "copyToDeviceAsync", "copyToDeviceAsync", "copyToDeviceAsync");
    assertThatRowsAreOn(true, true);
    calls.clear();
    assertThat(rows.toDevice(stream)).isTrue();
    assertThat(calls).isEmpty();
    assertThat(rows.toHost(stream)).isTrue();
    assertThat(calls).containsExactly("memoryFree");
    assertThatRowsAreOn(false, true);
  }

  @Test
  void withoutRoomTheyStayWhereTheyAre() {
    failing.put("hostAllocate", CudaDriver.OUT_OF_MEMORY);
    assertThat(rows.toHost(stream)).isFalse();
    assertThatRowsAreOn(true, false);
    failing.clear();
    assertThat(budget.take(1)).isTrue();
    assertThat(rows.toHost(stream)).as("the budget is less than they need").isFalse();
    budget.give(1);
    assertThatRowsAreOn(true, false);
    assertThat(rows.toHost(stream)).isTrue();
    failing.put("memoryAllocate", CudaDriver.OUT_OF_MEMORY);
    assertThat(rows.toDevice(stream)).isFalse();
    assertThatRowsAreOn(false, true);
  }

  @Test
  void whatFailsOnTheWayLeavesThemWhereTheyWere() {
    for (String call : List.of("hostAllocate", "copyToHostAsync", "streamSynchronize")) {
      failing.put(call, NOT_READY);
      assertThatThrownBy(() -> rows.toHost(stream)).as(call).isInstanceOf(CudaException.class);
      assertThatRowsAreOn(true, false);
      failing.clear();
    }
    rows.toHost(stream);
    failing.put("copyToDeviceAsync", NOT_READY);
    assertThatThrownBy(() -> rows.toDevice(stream)).isInstanceOf(CudaException.class);
    assertThatRowsAreOn(false, true);
  }

  /** In one piece of memory, so that kernels read them there. */
  @Test
  void fewerRowsHaveAnAddressOnTheHost() {
    long few = HostRows.SLAB_BYTES;
    try (var fewer = new MovableRows(driver, budget, new DeviceBuffer(driver, few))) {
      failing.put("hostDeviceAddress", NOT_READY);
      assertThatThrownBy(() -> fewer.toHost(stream)).isInstanceOf(CudaException.class);
      assertThat(budget.memoryBytes()).isZero();
      failing.clear();
      assertThat(fewer.toHost(stream)).isTrue();
      assertThat(fewer.address()).isPresent();
      assertThat(budget.memoryBytes()).isEqualTo(few);
    }
  }
}
