/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.withinPercentage;

import io.sparqr.backend.cuda.driver.CudaCalls;
import io.sparqr.backend.cuda.driver.CudaDriver;
import io.sparqr.backend.cuda.driver.DeviceBuffer;
import io.sparqr.backend.cuda.driver.FaultyCalls;
import io.sparqr.backend.cuda.driver.JCudaCalls;
import io.sparqr.backend.cuda.driver.LiveResources;
import io.sparqr.error.BackendUnavailableException;
import io.sparqr.error.CudaException;
import io.sparqr.error.FatalCudaException;
import io.sparqr.error.InsufficientMemoryException;
import io.sparqr.partition.DeviceModel;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The messages on a machine without a usable device. Needs no device. */
class CudaBackendProviderTest {

  private static String reason(CudaCalls calls) {
    return CudaBackendProvider.probe(true, () -> calls).reason();
  }

  /**
   * A machine with a number of devices, their capability and the driver's version; all calls
   * succeed.
   */
  private static CudaCalls machine(int version, int devices, int capability) {
    return FaultyCalls.of(
        null,
        (call, a) -> {
          switch (call) {
            case "driverVersion" -> ((int[]) a[0])[0] = version;
            case "deviceCount" -> ((int[]) a[0])[0] = devices;
            case "deviceAttribute" ->
                ((int[]) a[2])[0] = (int) a[1] == 75 ? capability / 10 : capability % 10;
            default -> {}
          }
          return null;
        });
  }

  @Test
  void eachReasonIsOneClearLine() {
    assertThat(CudaBackendProvider.probe(false, JCudaCalls::new).reason())
        .isEqualTo(
            "this build has no CUDA kernels (neither nvcc nor NVRTC was there when it was made)");
    assertThat(
            CudaBackendProvider.probe(
                    true,
                    () -> {
                      throw new UnsatisfiedLinkError(
                          "Error while loading JCudaDriver\nx.so: libcuda.so.1: cannot open shared");
                    })
                .reason())
        .isEqualTo("no CUDA driver (libcuda.so.1) on this machine");
    assertThat(
            CudaBackendProvider.probe(
                    true,
                    () -> {
                      throw new UnsatisfiedLinkError("no library for this platform\nmore");
                    })
                .reason())
        .isEqualTo("JCuda's native library cannot be loaded: no library for this platform");
    assertThat(reason(FaultyCalls.of(null, (call, a) -> call.equals("init") ? 100 : null)))
        .isEqualTo("the CUDA driver does not start: CUDA_ERROR_100 (100)");
    assertThat(reason(machine(12060, 1, 90)))
        .isEqualTo(
            "the CUDA driver is too old: its API is 12.6, the kernels need 13.0 (driver 580)");
    assertThat(reason(machine(13000, 0, 90)))
        .isEqualTo("no CUDA device is visible to this process");
    assertThat(reason(machine(13000, 2, 75)))
        .isEqualTo("device 0 has compute capability 7.5, 8.0 is needed");
    assertThat(reason(machine(13000, 2, 90))).isNull();
  }

  @Test
  void requiredButUnavailable() {
    var provider = new CudaBackendProvider(CudaBackendProvider.Verdict.no("why not"));
    assertThat(provider.unavailable()).contains("why not");
    assertThat(provider.devices()).isZero();
    assertThatThrownBy(() -> provider.create(0))
        .isInstanceOf(BackendUnavailableException.class)
        .hasMessage("no CUDA backend: why not");
    var two = new CudaBackendProvider(new CudaBackendProvider.Verdict(null, null, 2));
    assertThatThrownBy(() -> two.create(2))
        .isInstanceOf(BackendUnavailableException.class)
        .hasMessage("no CUDA device 2: there are 2");
  }

  @Test
  void thresholdsByTheDevicesPeak() {
    assertThat(Crossover.intensity(33e12)).isBetween(5.0, 5.05);
    assertThat(Crossover.intensity(1.3e12)).isBetween(6.0, 6.2);
    assertThat(Crossover.intensity(0.2e12)).isInfinite();
    CudaCalls h200 =
        FaultyCalls.of(
            null,
            (call, a) -> {
              if (call.equals("deviceAttribute")) {
                Map<Integer, Integer> values = Map.of(75, 9, 76, 0, 16, 132, 13, 1980000, 87, 2);
                ((int[]) a[2])[0] = values.get((int) a[1]);
              } else if (call.equals("deviceMemory")) {
                ((long[]) a[1])[0] = 150L << 30;
              }
              return null;
            });
    var verdict = new CudaBackendProvider.Verdict(null, new CudaDriver(h200), 1);
    var provider = new CudaBackendProvider(verdict);
    assertThat(provider.minimumIntensity()).isBetween(5.0, 5.05);
    assertThat(provider.minimumFlops()).isEqualTo(1e9);
    try {
      provider.keepOpen(true);
      assertThat(provider.minimumFlops()).isEqualTo(1e7);
      assertThat(new CudaBackendProvider().minimumFlops()).isEqualTo(1e7);
    } finally {
      provider.keepOpen(false);
    }
    assertThat(provider.minimumFlops()).isEqualTo(1e9);
    assertThat(provider.device(0))
        .hasValueSatisfying(
            d -> {
              double rate = DeviceModel.reference().flopsPerSecond();
              assertThat(d.flopsPerSecond()).isCloseTo(rate, withinPercentage(1));
              assertThat(d.memoryBytes()).isEqualTo(150L << 30);
            });
    assertThat(provider.device(1)).isEmpty();
    CudaCalls mute = FaultyCalls.of(null, (call, a) -> call.equals("deviceMemory") ? 1 : null);
    var broken = new CudaBackendProvider.Verdict(null, new CudaDriver(mute), 1);
    assertThat(new CudaBackendProvider(broken).device(0)).isEmpty();
  }

  @Test
  void codesBecomeTypedErrors() {
    var driver = new CudaDriver(FaultyCalls.of(null, (call, a) -> null));
    assertThatThrownBy(() -> driver.check("cuLaunchKernel", 701))
        .isExactlyInstanceOf(CudaException.class)
        .hasMessage("cuLaunchKernel failed: CUDA_ERROR_701 (701)");
    assertThatThrownBy(() -> driver.check("cuStreamSynchronize", 700))
        .isInstanceOf(FatalCudaException.class)
        .hasMessageContaining("this process must end");
    long before = LiveResources.count(LiveResources.Kind.DEVICE_BUFFER);
    var full =
        new CudaDriver(FaultyCalls.of(null, (c, a) -> c.equals("memoryAllocate") ? 2 : null));
    assertThatThrownBy(() -> new DeviceBuffer(full, 1L << 40))
        .isInstanceOf(InsufficientMemoryException.class)
        .hasMessage("cuMemAlloc: 1099511627776 bytes asked for, 0 free");
    assertThat(LiveResources.count(LiveResources.Kind.DEVICE_BUFFER)).isEqualTo(before);
  }
}
