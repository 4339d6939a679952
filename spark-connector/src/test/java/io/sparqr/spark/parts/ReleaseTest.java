/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.parts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.error.BackendUnavailableException;
import io.sparqr.spark.LocalSpark;
import io.sparqr.spark.device.DeviceLease;
import io.sparqr.spark.engine.Held;
import io.sparqr.spark.engine.JobScope;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.storage.StorageLevel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Everything is released in the end: broadcasts, RDDs, devices, the caller's job group. */
@Timeout(60)
class ReleaseTest {

  @Test
  void heldBroadcastsAndRddsGoNewestFirst() {
    JavaSparkContext context = LocalSpark.context();
    var held = new Held();
    Broadcast<int[]> broadcast = held.keep(context.broadcast(new int[] {1}));
    var rdd = held.persist(context.parallelize(List.of(1)), StorageLevel.MEMORY_ONLY());
    var order = new StringBuilder();
    held.onClose(() -> order.append("first in"));
    held.onClose(
        () -> {
          order.append("last in, ");
          throw new IllegalStateException("cannot be released any more");
        });
    assertThat(broadcast.value()).containsExactly(1);
    assertThat(held.closed()).isFalse();
    held.close();
    assertThat(order).hasToString("last in, first in");
    assertThat(held.closed()).isTrue();
    assertThatThrownBy(broadcast::value).hasMessageContaining("destroyed");
    assertThat(rdd.getStorageLevel()).isEqualTo(StorageLevel.NONE());
    held.close();
    assertThat(order).hasToString("last in, first in");
  }

  @Test
  void aTaskThatLeavesItsDeviceHeldGivesItBackWhenItEnds() throws InterruptedException {
    for (boolean fails : new boolean[] {false, true}) {
      var job =
          LocalSpark.context()
              .parallelize(List.of(1), 1)
              .map(
                  i -> {
                    DeviceLease lease = DeviceLease.acquire(TaskContext.get(), List.of(78));
                    assertThat(lease.devices()).containsExactly(78);
                    if (fails) {
                      throw new IllegalStateException("a task that fails");
                    }
                    return i;
                  });
      if (fails) {
        assertThatThrownBy(job::collect).hasMessageContaining("a task that fails");
      } else {
        assertThat(job.collect()).containsExactly(1);
      }
      assertThat(acquired(78)).as("fails: %s", fails).isTrue();
    }
    try (DeviceLease lease = DeviceLease.acquire(null, List.of(78))) {
      assertThat(lease.devices()).containsExactly(78);
    }
    assertThat(acquired(78)).isTrue();
  }

  /** Whether a device is free; a thread that waits in vain is interrupted. */
  private static boolean acquired(int device) throws InterruptedException {
    var got = new CountDownLatch(1);
    var other =
        new Thread(
            () -> {
              try {
                DeviceLease.acquire(null, List.of(device)).close();
                got.countDown();
              } catch (BackendUnavailableException e) {
                // interrupted below
              }
            });
    other.start();
    boolean mine = got.await(10, TimeUnit.SECONDS);
    other.interrupt();
    other.join();
    return mine;
  }

  @Test
  void whoWaitsForADeviceCanBeInterrupted() throws InterruptedException {
    var told = new AtomicReference<Exception>();
    var stillInterrupted = new AtomicBoolean();
    try (DeviceLease lease = DeviceLease.acquire(null, List.of(79))) {
      assertThat(lease.waitedNanos()).isNotNegative();
      var waiting =
          new Thread(
              () -> {
                try {
                  DeviceLease.acquire(null, List.of(79)).close();
                } catch (BackendUnavailableException e) {
                  told.set(e);
                }
                stillInterrupted.set(Thread.currentThread().isInterrupted());
              });
      waiting.start();
      waiting.interrupt();
      waiting.join();
    }
    assertThat(told.get()).hasMessageContaining("interrupted while waiting for a device");
    assertThat(stillInterrupted).isTrue();
  }

  @Test
  void aSolvesJobsAreAGroupWhoseCancellationInterruptsItsTasks() {
    JavaSparkContext context = LocalSpark.context();
    context.clearJobGroup();
    try (var scope = new JobScope(context)) {
      scope.describe("level 1");
      assertThat(context.getLocalProperty("spark.jobGroup.id")).isEqualTo(scope.group());
      assertThat(context.getLocalProperty("spark.job.interruptOnCancel")).isEqualTo("true");
      assertThat(context.getLocalProperty("spark.job.description")).isEqualTo("sparse QR: level 1");
    }
    for (String key :
        List.of("spark.jobGroup.id", "spark.job.interruptOnCancel", "spark.job.description")) {
      assertThat(context.getLocalProperty(key)).as(key).isNull();
    }
    // the caller's own group: cancelling it must reach our jobs, as the caller configured it
    for (boolean interrupt : new boolean[] {true, false}) {
      context.setJobGroup("mine", "what I do", interrupt);
      try (var scope = new JobScope(context)) {
        scope.describe("level 1");
        assertThat(scope.group()).isEqualTo("mine");
        assertThat(context.getLocalProperty("spark.job.interruptOnCancel"))
            .isEqualTo(String.valueOf(interrupt));
      }
      assertThat(context.getLocalProperty("spark.job.description")).isEqualTo("what I do");
      context.clearJobGroup();
    }
  }

  private static volatile CountDownLatch started;
  private static volatile CountDownLatch interrupted;

  @Test
  void cancellingTheGroupInterruptsATaskThatWouldNotEnd() throws InterruptedException {
    JavaSparkContext context = LocalSpark.context();
    context.clearJobGroup();
    started = new CountDownLatch(1);
    interrupted = new CountDownLatch(1);
    try (var scope = new JobScope(context)) {
      var cancelling =
          new Thread(
              () -> {
                try {
                  started.await();
                } catch (InterruptedException e) {
                  Thread.currentThread().interrupt();
                }
                context.cancelJobGroup(scope.group());
              });
      cancelling.start();
      assertThatThrownBy(
              () -> context.parallelize(List.of(1), 1).map(ReleaseTest::untilInterrupted).collect())
          .hasMessageContaining("cancelled");
      cancelling.join();
    }
    assertThat(interrupted.await(30, TimeUnit.SECONDS)).isTrue();
  }

  private static int untilInterrupted(int i) {
    started.countDown();
    try {
      Thread.sleep(45_000);
    } catch (InterruptedException e) {
      interrupted.countDown();
      throw new IllegalStateException(e);
    }
    return i;
  }
}
