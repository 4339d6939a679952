/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.backend.cuda.CudaBackendProvider;
import io.sparqr.backend.cuda.CudaSubtreeFactorizer;
import io.sparqr.backend.cuda.DeviceSessions;
import io.sparqr.backend.cuda.TestDevice;
import io.sparqr.error.FatalCudaException;
import io.sparqr.error.InsufficientMemoryException;
import io.sparqr.numeric.DeviceCases;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.TestMatrices;
import io.sparqr.partition.DeviceModel;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Memory, failures and leaks. */
@Tag("gpu")
class CudaResourcesTest {

  private static final double TOLERANCE = 1e-10;

  /** Modules of a session. */
  private static final int PARTS = CudaModule.AT_ONCE.size();

  private static FactorOptions options(long bytes) {
    return new FactorOptions(TOLERANCE, 4, bytes);
  }

  private static void assertSameBits(SubtreeFactor a, SubtreeFactor b) {
    assertThat(a.fronts()).hasSameSizeAs(b.fronts());
    for (int f = 0; f < a.fronts().size(); f++) {
      assertThat(TestMatrices.rowsOfR(a.fronts().get(f)))
          .as("front %d", f)
          .isEqualTo(TestMatrices.rowsOfR(b.fronts().get(f)));
      assertThat(a.fronts().get(f).rhs()).as("front %d", f).isEqualTo(b.fronts().get(f).rhs());
    }
  }

  @Test
  void nothingIsLeftAfterClose() {
    SubtreeProblem problem = DeviceCases.whole("gen:cells3d8");
    TestDevice.driver();
    long before = LiveResources.total();
    for (int i = 0; i < 3; i++) {
      try (var device = TestDevice.provider().create(0)) {
        device.factor(problem, options(0));
        assertThat(LiveResources.total()).isGreaterThan(before);
      }
      assertThat(LiveResources.total()).isEqualTo(before);
    }
  }

  @Test
  void theDeviceTellsItsRatesAndMemoryAndWhatIsHeld() {
    CudaBackendProvider provider = TestDevice.provider();
    DeviceModel model = provider.device(0).orElseThrow();
    assertThat(model.memoryBytes()).isGreaterThan(8L << 30);
    assertThat(model.flopsPerSecond()).isBetween(1e10, 1e14);
    long before = provider.deviceBytesInUse();
    try (var device = provider.create(0)) {
      device.factor(DeviceCases.whole("gen:cells3d8"), options(0));
      assertThat(provider.deviceBytesInUse()).isGreaterThan(before).isLessThan(model.memoryBytes());
    }
    assertThat(provider.deviceBytesInUse()).isEqualTo(before);
  }

  @Test
  void aSessionOutlivesItsTasksAndThenNothingIsLeft() throws InterruptedException {
    SubtreeProblem problem = DeviceCases.whole("gen:cells3d8");
    var loads = new AtomicInteger();
    var driver =
        new CudaDriver(
            FaultyCalls.of(
                TestDevice.driver().calls(),
                (call, a) ->
                    call.equals("moduleLoad") && loads.incrementAndGet() > PARTS ? 1 : null));
    long before = LiveResources.total();
    long buffers = LiveResources.count(LiveResources.Kind.DEVICE_BUFFER);
    var sessions = new DeviceSessions(driver, 1000);
    SubtreeFactor first = null;
    for (int i = 0; i < 3; i++) {
      try (var device = new CudaSubtreeFactorizer(sessions, 0, null)) {
        SubtreeFactor f = device.factor(problem, options(0));
        first = first == null ? f : first;
        assertSameBits(f, first);
      }
      // waits until what the task held is free
      sessions.acquire(0).close();
      assertThat(LiveResources.count(LiveResources.Kind.DEVICE_BUFFER)).isEqualTo(buffers);
    }
    assertThat(loads).hasValue(PARTS);
    for (int i = 0; i < 200 && LiveResources.total() != before; i++) {
      Thread.sleep(50);
    }
    assertThat(LiveResources.total()).isEqualTo(before);
  }

  @Test
  void aFifthOfTheMemoryGivesTheSameBits() {
    SubtreeProblem problem = DeviceCases.whole("gen:cells3d16");
    try (var device = TestDevice.provider().create(0)) {
      SubtreeFactor whole = device.factor(problem, options(0));
      assertThat(whole.summary().stages()).isEqualTo(1);
      long need = whole.summary().peakDeviceBytes();
      SubtreeFactor staged = device.factor(problem, options(need / 5));
      assertThat(staged.summary().stages()).isGreaterThan(1);
      assertThat(staged.summary().peakDeviceBytes()).isLessThanOrEqualTo(need / 5);
      assertSameBits(staged, whole);
      assertThatThrownBy(() -> device.factor(problem, options(1000)))
          .isInstanceOf(InsufficientMemoryException.class);
    }
  }

  @Test
  void outOfMemoryShrinksThePlan() {
    SubtreeProblem problem = DeviceCases.whole("gen:cells3d16");
    SubtreeFactor whole;
    try (var device = TestDevice.provider().create(0)) {
      whole = device.factor(problem, options(0));
    }
    long before = LiveResources.total();
    long limit = whole.summary().peakDeviceBytes() / 3;
    var real = TestDevice.driver().calls();
    var driver =
        new CudaDriver(
            FaultyCalls.of(
                real,
                (call, a) -> call.equals("memoryAllocate") && (long) a[1] > limit ? 2 : null));
    try (var device = new CudaSubtreeFactorizer(driver, 0, null)) {
      SubtreeFactor f = device.factor(problem, options(0));
      assertThat(f.summary().stages()).isGreaterThan(1);
      assertSameBits(f, whole);
    }
    assertThat(LiveResources.total()).isEqualTo(before);
  }

  @Test
  void aStickyErrorIsFatalAndTheFactorizerIsDone() {
    SubtreeProblem problem = DeviceCases.whole("gen:cells2d20");
    var driver =
        new CudaDriver(
            FaultyCalls.of(
                TestDevice.driver().calls(), (call, a) -> call.equals("launch") ? 700 : null));
    try (var device = new CudaSubtreeFactorizer(driver, 0, null)) {
      assertThatThrownBy(() -> device.factor(problem, options(0)))
          .isInstanceOf(FatalCudaException.class)
          .hasMessageContaining("cuLaunchKernel");
      assertThatThrownBy(() -> device.factor(problem, options(0)))
          .isInstanceOf(IllegalStateException.class);
    }
  }
}
