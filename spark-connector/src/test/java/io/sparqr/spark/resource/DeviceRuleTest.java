/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.resource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.backend.BackendChoice;
import io.sparqr.backend.QrBackendProvider;
import io.sparqr.error.BackendUnavailableException;
import io.sparqr.numeric.SubtreeFactorizer;
import io.sparqr.spark.LocalSpark;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Which device a task may use, one task at a time. */
class DeviceRuleTest {

  /** Thresholds of a device; it computes nothing. */
  private static final QrBackendProvider CUDA =
      new QrBackendProvider() {
        @Override
        public String name() {
          return "cuda";
        }

        @Override
        public Optional<String> unavailable() {
          return Optional.empty();
        }

        @Override
        public SubtreeFactorizer create(int device) {
          throw new UnsupportedOperationException();
        }

        @Override
        public int devices() {
          return 1;
        }

        @Override
        public double minimumIntensity() {
          return 5;
        }

        @Override
        public double minimumFlops() {
          return 1e9;
        }
      };

  @Test
  void theAddressThatSparkGaveCounts() {
    assertThat(DeviceLease.device(null, "3", false, 0, 4)).hasValue(3);
    assertThat(DeviceLease.device("", " 1 ", true, 7, 4)).hasValue(1);
    assertThat(DeviceLease.device("2,3", "3", false, 0, 2)).hasValue(1);
    assertThat(DeviceLease.device("5", "0", false, 0, 1)).hasValue(0);
    assertThat(DeviceLease.device(null, "GPU-0a1b", false, 0, 2)).hasValue(0);
  }

  @Test
  void localTasksShareAndUngrantedDevicesAreLeftAlone() {
    assertThat(DeviceLease.device(null, null, true, 5, 2)).hasValue(1);
    assertThat(DeviceLease.device("0", null, false, 5, 1)).hasValue(0);
    assertThat(DeviceLease.device(null, null, false, 5, 2)).isEmpty();
  }

  @Test
  void theCpuIsChosenWithItsReason() {
    Backends.Chosen asked =
        Backends.choose(BackendChoice.CPU, 100, 1e12, devices -> OptionalInt.of(0));
    assertThat(asked.onDevice()).isFalse();
    assertThat(asked.reason()).isEqualTo("asked for");
    Backends.Chosen auto = Backends.choose(BackendChoice.AUTO, 0, 0, d -> OptionalInt.empty());
    assertThat(auto.provider().name()).isEqualTo("cpu");
    assertThat(auto.reason()).isNotEmpty();
    assertThatThrownBy(
            () -> Backends.choose(BackendChoice.REQUIRE_CUDA, 0, 0, d -> OptionalInt.empty()))
        .isInstanceOf(BackendUnavailableException.class)
        .hasMessageStartingWith("CUDA is required: ");
  }

  @Test
  void tooLittleWorkForTheDeviceSaysSo() {
    assertThat(Backends.tooLittle(CUDA, 4.9, 1e12))
        .isEqualTo("arithmetic intensity 4.9 flops a byte is below the device's threshold 5.0");
    assertThat(Backends.tooLittle(CUDA, 100, 9e8))
        .isEqualTo("9.0e+08 flops are below the device's threshold 1.0e+09");
    assertThat(Backends.tooLittle(CUDA, 5, 1e9)).isNull();
  }

  @Test
  void theSparkConfigurationHasTheLastWordOnTheThresholds() {
    LocalSpark.context();
    SparkConf conf = SparkEnv.get().conf();
    try {
      conf.set(Backends.MINIMUM_INTENSITY, "50");
      assertThat(Backends.tooLittle(CUDA, 49, 1e12)).contains("49.0", "threshold 50.0");
      assertThat(Backends.tooLittle(CUDA, 51, 1e12)).isNull();
      conf.set(Backends.MINIMUM_INTENSITY, "0");
      assertThat(Backends.tooLittle(CUDA, 0.1, 1e12)).isNull();
      assertThat(Backends.tooLittle(CUDA, 0.1, 1e8)).contains("threshold 1.0e+09");
      conf.set(Backends.MINIMUM_FLOPS, "1e7");
      assertThat(Backends.tooLittle(CUDA, 0.1, 1e8)).isNull();
      conf.set(Backends.MINIMUM_FLOPS, "many");
      assertThatThrownBy(() -> Backends.tooLittle(CUDA, 0.1, 1e8))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining(Backends.MINIMUM_FLOPS)
          .hasMessageContaining("many");
    } finally {
      conf.remove(Backends.MINIMUM_INTENSITY);
      conf.remove(Backends.MINIMUM_FLOPS);
    }
    assertThat(Backends.tooLittle(CUDA, 5, 1e9)).isNull();
  }

  @Test
  @Timeout(30)
  void aDeviceServesOneTaskAtATime() throws InterruptedException {
    DeviceLease first = DeviceLease.acquire(null, 77);
    var got = new CountDownLatch(1);
    var second =
        new Thread(
            () -> {
              try (DeviceLease lease = DeviceLease.acquire(null, 77)) {
                assertThat(lease.device()).isEqualTo(77);
                got.countDown();
              }
            });
    second.start();
    assertThat(got.await(100, TimeUnit.MILLISECONDS)).isFalse();
    first.close();
    first.close();
    assertThat(got.await(10, TimeUnit.SECONDS)).isTrue();
    second.join();
  }
}
