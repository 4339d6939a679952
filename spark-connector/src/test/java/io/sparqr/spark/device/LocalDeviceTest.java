/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.backend.BackendChoice;
import io.sparqr.error.BackendUnavailableException;
import io.sparqr.error.FatalCudaException;
import io.sparqr.error.InsufficientMemoryException;
import io.sparqr.spark.plan.DeviceVerdict;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Where a dense matrix of the driver is taken. */
class LocalDeviceTest {

  private static final DeviceVerdict REQUIRED = LocalDevice.verdict(BackendChoice.REQUIRE_CUDA, 0);
  private static final DeviceVerdict LARGE = LocalDevice.verdict(BackendChoice.AUTO, 1e12);
  private static final Backends.Cuda NONE = new Backends.Cuda(Optional.empty());
  private static final Backends.Cuda ONE =
      new Backends.Cuda(Optional.of(new DeviceRuleTest.Thresholds(1)));

  private static String run(
      DeviceVerdict verdict, Backends.Cuda cuda, LocalDevice.Work<String> work) {
    return LocalDevice.run(verdict, cuda, "a test", work, () -> "host");
  }

  private static String device(DeviceVerdict verdict, Backends.Cuda cuda) {
    return run(verdict, cuda, (provider, device) -> Optional.of("device " + device));
  }

  @Test
  void aDeviceIsTakenWhereItPaysOrIsAskedFor() {
    assertThat(device(LARGE, ONE)).isEqualTo("device 0");
    assertThat(device(REQUIRED, ONE)).isEqualTo("device 0");
    assertThat(device(LocalDevice.verdict(BackendChoice.AUTO, 1e9), ONE)).isEqualTo("host");
    assertThat(device(LocalDevice.verdict(BackendChoice.CPU, 1e15), ONE)).isEqualTo("host");
    assertThat(device(LARGE, NONE)).isEqualTo("host");
    assertThatThrownBy(() -> device(REQUIRED, NONE))
        .isInstanceOf(BackendUnavailableException.class)
        .hasMessageContaining("no CUDA backend");
  }

  /** The host does it instead, unless a device is required. */
  @Test
  void whatADeviceCannotDo() {
    assertThat(run(LARGE, ONE, (p, d) -> Optional.empty())).isEqualTo("host");
    assertThatThrownBy(() -> run(REQUIRED, ONE, (p, d) -> Optional.empty()))
        .isInstanceOf(BackendUnavailableException.class)
        .hasMessageContaining("no kernels for such a matrix");
    LocalDevice.Work<String> full =
        (p, d) -> {
          throw new InsufficientMemoryException("too large", 2, 1);
        };
    assertThat(run(LARGE, ONE, full)).isEqualTo("host");
    assertThatThrownBy(() -> run(REQUIRED, ONE, full))
        .isInstanceOf(InsufficientMemoryException.class);
  }

  /** Other errors are told, and the device is free for the next one. */
  @Test
  void errorsPass() {
    assertThatThrownBy(
            () ->
                run(
                    LARGE,
                    ONE,
                    (p, d) -> {
                      throw new IllegalArgumentException("row 3 is NaN");
                    }))
        .hasMessage("row 3 is NaN");
    assertThatThrownBy(
            () ->
                run(
                    LARGE,
                    ONE,
                    (p, d) -> {
                      throw new FatalCudaException("lost", "cuLaunchKernel", 700);
                    }))
        .isInstanceOf(FatalCudaException.class);
    assertThat(device(LARGE, ONE)).isEqualTo("device 0");
  }
}
