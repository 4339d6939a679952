/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.backend.BackendChoice;
import io.sparqr.backend.QrBackendProvider;
import io.sparqr.configuration.Keys;
import io.sparqr.error.BackendUnavailableException;
import io.sparqr.numeric.SubtreeFactorizer;
import io.sparqr.spark.LocalSpark;
import io.sparqr.spark.plan.DeviceVerdict;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Which device a task may use, one task at a time. */
class DeviceRuleTest {

  /** Thresholds of a device; it computes nothing. */
  record Thresholds(int devices) implements QrBackendProvider {
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
    public double minimumIntensity() {
      return 5;
    }

    @Override
    public double minimumFlops() {
      return 1e9;
    }
  }

  private static final QrBackendProvider CUDA = new Thresholds(1);
  private static final Backends.Cuda NO_DEVICE = new Backends.Cuda(Optional.of(new Thresholds(0)));

  @Test
  void theAddressThatSparkGaveCounts() {
    assertThat(given(null, 4, "3")).containsExactly(3);
    assertThat(DeviceLease.devices("", List.of(" 1 "), true, true, 7, 4)).containsExactly(1);
    assertThat(given("2,3", 2, "3")).containsExactly(1);
    assertThat(given("5", 1, "0")).containsExactly(0);
    assertThat(given(null, 2, "GPU-0a1b")).containsExactly(0);
    assertThatThrownBy(() -> given(null, 2, "2"))
        .isInstanceOf(BackendUnavailableException.class)
        .hasMessageContaining("Spark gave the task GPU 2, but its JVM sees 2 (0 to 1)");
  }

  /** The devices of a task of a cluster to which Spark gave these addresses. */
  private static List<Integer> given(String visible, int devices, String... addresses) {
    return DeviceLease.devices(visible, List.of(addresses), false, false, 0, devices);
  }

  @Test
  void aTaskOwnsAllThatSparkGaveIt() {
    assertThat(given(null, 4, "3", "1")).containsExactly(3, 1);
    assertThat(given("4,6,7", 3, "7", "4")).containsExactly(2, 0);
    assertThat(given(null, 2, "GPU-0a1b", "GPU-77aa")).containsExactly(0, 1);
    assertThat(given("5", 1, "0", "1")).as("a list of other numbers").containsExactly(0);
    assertThatThrownBy(() -> given(null, 2, "1", "2"))
        .isInstanceOf(BackendUnavailableException.class)
        .hasMessageContaining("GPU 2");
  }

  @Test
  void localTasksShareAndUngrantedDevicesAreLeftAlone() {
    assertThat(DeviceLease.devices(null, List.of(), true, false, 5, 2)).containsExactly(1);
    assertThat(DeviceLease.devices("0", List.of(), false, false, 5, 1)).containsExactly(0);
    assertThat(DeviceLease.devices(null, List.of(), false, true, 5, 2)).isEmpty();
  }

  @Test
  void withOneWorkerALocalTaskOwnsAllThatTheJvmSees() {
    assertThat(DeviceLease.devices(null, List.of(), true, true, 0, 3)).containsExactly(0, 1, 2);
    assertThat(DeviceLease.devices("1", List.of(), true, true, 0, 1)).containsExactly(0);
  }

  @Test
  @Timeout(30)
  void severalDevicesAreTakenInOneOrder() throws Exception {
    DeviceLease held = DeviceLease.acquire(null, List.of(72));
    CompletableFuture<List<Integer>> both =
        CompletableFuture.supplyAsync(
            () -> {
              try (DeviceLease lease = DeviceLease.acquire(null, List.of(73, 72, 71))) {
                return lease.devices();
              }
            });
    assertThatThrownBy(() -> both.get(100, TimeUnit.MILLISECONDS))
        .isInstanceOf(TimeoutException.class);
    // Not yet taken: it comes after the one that is waited for.
    DeviceLease.acquire(null, List.of(73)).close();
    held.close();
    assertThat(both.get()).containsExactly(73, 72, 71);
  }

  private static final Backends.Cuda THERE = new Backends.Cuda(Optional.of(CUDA));
  private static final Backends.Cuda NOWHERE = new Backends.Cuda(Optional.empty());

  private static DeviceVerdict verdict(double flops, double intensity) {
    return DeviceRule.of(BackendChoice.AUTO, true, THERE).verdict(flops, intensity);
  }

  @Test
  void theCallersWordIsNotWeighed() {
    assertThat(DeviceRule.of(BackendChoice.CPU, true).verdict(1e15, 1e3))
        .isEqualTo(new DeviceVerdict.Refuse("asked for"));
    for (boolean local : new boolean[] {true, false}) {
      assertThat(DeviceRule.of(BackendChoice.REQUIRE_CUDA, local, THERE).verdict(1, 0))
          .isEqualTo(new DeviceVerdict.Use(true, "required"));
    }
  }

  @Test
  void whereTheDriverKnowsThatThereIsNoneTheVerdictSaysSo() {
    assertThatThrownBy(() -> DeviceRule.of(BackendChoice.REQUIRE_CUDA, true, NOWHERE))
        .isInstanceOf(BackendUnavailableException.class)
        .hasMessage("CUDA is required: no CUDA backend in this build");
    assertThat(DeviceRule.of(BackendChoice.AUTO, true, NOWHERE).verdict(1e15, 1e3))
        .isEqualTo(new DeviceVerdict.Refuse("no CUDA backend in this build"));
    // the executors of a cluster may have what the driver has not
    assertThat(DeviceRule.of(BackendChoice.AUTO, true, NO_DEVICE).verdict(1e15, 1e3))
        .isEqualTo(new DeviceVerdict.Refuse("no CUDA device"));
    assertThat(DeviceRule.of(BackendChoice.AUTO, false, NO_DEVICE).verdict(1e15, 1e3))
        .isEqualTo(new DeviceVerdict.Use(false, "arithmetic intensity 1000.0"));
    assertThat(DeviceRule.of(BackendChoice.REQUIRE_CUDA, false, NO_DEVICE).verdict(1, 1).required())
        .isTrue();
  }

  @Test
  void aTaskGoesByTheVerdictAndByWhatItReaches() {
    var refuse = new DeviceVerdict.Refuse("too little");
    Backends.Chosen host = Backends.choose(refuse, THERE, devices -> List.of(0));
    assertThat(host.onDevice()).isFalse();
    assertThat(host.provider().name()).isEqualTo("cpu");
    assertThat(host.reason()).isEqualTo("too little");

    var use = new DeviceVerdict.Use(false, "much work");
    Backends.Chosen device = Backends.choose(use, THERE, devices -> List.of(devices - 1));
    assertThat(device).isEqualTo(new Backends.Chosen(CUDA, List.of(0), "much work"));
    assertThat(Backends.choose(use, THERE, devices -> List.of()).reason())
        .startsWith("Spark gave the task no GPU");
    assertThat(Backends.choose(use, NOWHERE, devices -> List.of(0)).reason())
        .isEqualTo("no CUDA backend in this build");

    var must = new DeviceVerdict.Use(true, "required");
    assertThat(Backends.choose(must, THERE, devices -> List.of(0)).devices()).containsExactly(0);
    for (Backends.Cuda cuda : List.of(THERE, NOWHERE, NO_DEVICE)) {
      assertThatThrownBy(() -> Backends.choose(must, cuda, devices -> List.of()))
          .isInstanceOf(BackendUnavailableException.class)
          .hasMessageStartingWith("CUDA is required: ");
    }
  }

  @Test
  void tooLittleWorkForTheDeviceSaysSo() {
    assertThat(verdict(1e12, 4.9))
        .isEqualTo(
            new DeviceVerdict.Refuse(
                "arithmetic intensity 4.9 flops a byte is below the device's threshold 5.0"));
    assertThat(verdict(9e8, 100))
        .isEqualTo(
            new DeviceVerdict.Refuse("9.0e+08 flops are below the device's threshold 1.0e+09"));
    assertThat(verdict(1e9, 5)).isEqualTo(new DeviceVerdict.Use(false, "arithmetic intensity 5.0"));
  }

  @Test
  void theSparkConfigurationHasTheLastWordOnTheThresholds() {
    LocalSpark.context();
    SparkConf conf = SparkEnv.get().conf();
    try {
      conf.set(Keys.MINIMUM_INTENSITY.name(), "50");
      assertThat(verdict(1e12, 49).reason()).contains("49.0", "threshold 50.0");
      assertThat(verdict(1e12, 51).use()).isTrue();
      conf.set(Keys.MINIMUM_INTENSITY.name(), "0");
      assertThat(verdict(1e12, 0.1).use()).isTrue();
      assertThat(verdict(1e8, 0.1).reason()).contains("threshold 1.0e+09");
      conf.set(Keys.MINIMUM_FLOPS.name(), "1e7");
      assertThat(verdict(1e8, 0.1).use()).isTrue();
      conf.set(Keys.MINIMUM_FLOPS.name(), "many");
      assertThatThrownBy(() -> verdict(1e8, 0.1))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining(Keys.MINIMUM_FLOPS.name())
          .hasMessageContaining("many");
    } finally {
      conf.remove(Keys.MINIMUM_INTENSITY.name());
      conf.remove(Keys.MINIMUM_FLOPS.name());
    }
    assertThat(verdict(1e9, 5).use()).isTrue();
  }

  @Test
  @Timeout(30)
  void aDeviceServesOneTaskAtATime() throws InterruptedException {
    DeviceLease first = DeviceLease.acquire(null, List.of(77));
    var got = new CountDownLatch(1);
    var second =
        new Thread(
            () -> {
              try (DeviceLease lease = DeviceLease.acquire(null, List.of(77))) {
                assertThat(lease.devices()).containsExactly(77);
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
