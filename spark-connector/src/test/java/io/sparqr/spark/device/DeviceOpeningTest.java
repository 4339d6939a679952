/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.device;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.backend.OpenDevice;
import io.sparqr.backend.QrBackendProvider;
import io.sparqr.error.BackendUnavailableException;
import io.sparqr.numeric.SubtreeFactorizer;
import io.sparqr.spark.plan.DeviceVerdict;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** When a device is opened ahead of its task, and that it is let go of, once, in any order. */
@Timeout(60)
class DeviceOpeningTest {

  private static final DeviceVerdict USE = new DeviceVerdict.Use(false, "large");
  private static final DeviceVerdict REFUSE = new DeviceVerdict.Refuse("small");

  /** A device that opens when it is allowed to, and counts. */
  private static final class Device implements QrBackendProvider {
    final CountDownLatch allowed = new CountDownLatch(1);
    final AtomicInteger opened = new AtomicInteger();
    final AtomicInteger closed = new AtomicInteger();
    Error failure;
    String obstacle;

    @Override
    public String name() {
      return "cuda";
    }

    @Override
    public Optional<String> unavailable() {
      return Optional.ofNullable(obstacle);
    }

    @Override
    public SubtreeFactorizer create(int device) {
      throw new UnsupportedOperationException();
    }

    @Override
    public OpenDevice open(int device) {
      assertThat(device).isZero();
      try {
        allowed.await();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
      opened.incrementAndGet();
      if (failure != null) {
        throw failure;
      }
      if (obstacle != null) {
        throw new BackendUnavailableException(obstacle, "cuda");
      }
      return closed::incrementAndGet;
    }

    @Override
    public int devices() {
      return 1;
    }

    @Override
    public double minimumIntensity() {
      return 0;
    }
  }

  private final Device device = new Device();

  private DeviceOpening opening(boolean local) {
    return new DeviceOpening(local, new Backends.Cuda(Optional.of(device)));
  }

  private static void threadEnds() throws InterruptedException {
    for (Thread t : Thread.getAllStackTraces().keySet()) {
      if (t.getName().equals("sparqr-device")) {
        t.join();
      }
    }
  }

  @Test
  void openedOnceAndLetGoOfOnce() throws InterruptedException {
    device.allowed.countDown();
    var opening = opening(true);
    opening.consider(REFUSE);
    assertThat(opening.begun()).isFalse();
    opening.consider(USE);
    opening.consider(USE);
    assertThat(opening.begun()).isTrue();
    threadEnds();
    assertThat(device.opened).hasValue(1);
    assertThat(device.closed).hasValue(0);
    opening.close();
    opening.close();
    assertThat(device.closed).hasValue(1);
  }

  @Test
  void aSolveThatEndsEarlierDoesNotWaitAndLeavesNothing() throws InterruptedException {
    var opening = opening(true);
    opening.consider(USE);
    opening.close();
    assertThat(device.opened).hasValue(0);
    device.allowed.countDown();
    threadEnds();
    assertThat(device.opened).hasValue(1);
    assertThat(device.closed).hasValue(1);
    opening.consider(USE);
    threadEnds();
    assertThat(device.opened).hasValue(1);
  }

  @Test
  void neverForAProblemOfTheProcessorsNorOnADriverOfACluster() throws InterruptedException {
    device.allowed.countDown();
    try (var opening = opening(true)) {
      opening.consider(REFUSE);
    }
    try (var opening = opening(false)) {
      opening.consider(USE);
      assertThat(opening.begun()).isFalse();
    }
    device.obstacle = "no driver";
    try (var opening = opening(true)) {
      opening.consider(USE);
      assertThat(opening.begun()).isFalse();
    }
    threadEnds();
    assertThat(device.opened).hasValue(0);
  }

  @Test
  void itsFailureIsNotTheSolves() throws InterruptedException {
    for (Error planted : new Error[] {new UnsatisfiedLinkError("p"), new OutOfMemoryError("p")}) {
      device.failure = planted;
      device.allowed.countDown();
      try (var opening = opening(true)) {
        opening.consider(USE);
        threadEnds();
      }
      assertThat(device.closed).hasValue(0);
    }
    assertThat(device.opened).hasValue(2);
  }
}
