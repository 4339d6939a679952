/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.sparqr.backend.OpenDevice;
import io.sparqr.backend.cuda.driver.CudaCalls;
import io.sparqr.backend.cuda.driver.CudaDriver;
import io.sparqr.backend.cuda.driver.DeviceBuffer;
import io.sparqr.backend.cuda.driver.FaultyCalls;
import io.sparqr.backend.cuda.driver.KernelImage;
import io.sparqr.backend.cuda.driver.LiveResources;
import io.sparqr.backend.cuda.driver.PinnedBuffer;
import io.sparqr.backend.cuda.resident.DeviceSession;
import io.sparqr.backend.cuda.transfer.PinnedPool;
import io.sparqr.error.CudaException;
import io.sparqr.error.FatalCudaException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What a session keeps between tasks, and for how long. Needs no device. */
class DeviceSessionsTest {

  /** A module for each part of the kernels. */
  private static final List<String> OPENED =
      List.of("primaryContextRetain", "moduleLoad", "moduleLoad", "moduleLoad");

  private final List<String> calls = new CopyOnWriteArrayList<>();

  private DeviceSessions sessions(long idleMillis) {
    CudaCalls recorder =
        FaultyCalls.of(
            null,
            (call, a) -> {
              if (call.startsWith("primaryContext") || call.equals("moduleLoad")) {
                calls.add(call);
              }
              return null;
            });
    return new DeviceSessions(
        new CudaDriver(recorder), idleMillis, capability -> new KernelImage(part -> new byte[1]));
  }

  private static CudaBackendProvider.Verdict verdict() {
    return new CudaBackendProvider.Verdict(
        null, new CudaDriver(FaultyCalls.of(null, (call, a) -> null)), 1);
  }

  private void closeTwice(DeviceSessions.Lease lease) {
    lease.close();
    lease.close();
  }

  private static void waitFor(long total) throws InterruptedException {
    for (int i = 0; i < 500 && LiveResources.total() != total; i++) {
      Thread.sleep(10);
    }
    assertThat(LiveResources.total()).isEqualTo(total);
  }

  @Test
  void withoutIdleTimeItLivesAsLongAsItsUsers() {
    long before = LiveResources.total();
    DeviceSessions sessions = sessions(0);
    DeviceSessions.Lease a = sessions.acquire(0);
    DeviceSessions.Lease b = sessions.acquire(0);
    DeviceSessions.Lease other = sessions.acquire(1);
    assertThat(a.session()).isSameAs(b.session()).isNotSameAs(other.session());
    closeTwice(a);
    closeTwice(other);
    assertThat(calls)
        .containsExactlyElementsOf(
            Stream.of(OPENED, OPENED, List.of("primaryContextRelease"))
                .flatMap(List::stream)
                .toList());
    assertThat(LiveResources.total()).isGreaterThan(before);
    closeTwice(b);
    assertThat(LiveResources.total()).isEqualTo(before);
  }

  @Test
  void theNextTaskFindsItWarm() throws InterruptedException {
    long before = LiveResources.total();
    DeviceSessions sessions = sessions(300_000);
    DeviceSession first;
    try (DeviceSessions.Lease lease = sessions.acquire(0)) {
      first = lease.session();
      var pool = first.pinned();
      pool.release(pool.acquire(1));
    }
    try (DeviceSessions.Lease lease = sessions.acquire(0)) {
      assertThat(lease.session()).isSameAs(first);
      sessions.closeIdle();
      assertThat(calls).containsExactlyElementsOf(OPENED);
    }
    assertThat(LiveResources.count(LiveResources.Kind.PINNED_BUFFER)).isPositive();
    sessions.closeIdle();
    assertThat(LiveResources.total()).isEqualTo(before);
  }

  @Test
  void aDeviceOpenedAheadIsThereForItsTaskAndClosedWithIt() {
    long before = LiveResources.total();
    DeviceSessions sessions = sessions(0);
    var provider = new CudaBackendProvider(verdict(), sessions);
    try (OpenDevice ahead = provider.open(0)) {
      assertThat(calls).containsExactlyElementsOf(OPENED);
      long held = LiveResources.count(LiveResources.Kind.PINNED_BUFFER);
      assertThat(held).isGreaterThanOrEqualTo(32);
      provider.open(0).close();
      try (DeviceSessions.Lease lease = sessions.acquire(0)) {
        PinnedPool pool = lease.session().pinned();
        pool.release(pool.acquire(1));
        pool.fill(100);
      }
      assertThat(LiveResources.count(LiveResources.Kind.PINNED_BUFFER)).isEqualTo(held);
      assertThat(calls).containsExactlyElementsOf(OPENED);
      assertThat(ahead).isNotNull();
    }
    assertThat(LiveResources.total()).isEqualTo(before);
  }

  @Test
  void anOpeningThatFailsLeavesNothingAndTheTaskTellsTheSame() {
    long before = LiveResources.total();
    for (String failing : List.of("primaryContextRetain", "moduleLoad", "hostAllocate")) {
      CudaCalls broken =
          FaultyCalls.of(null, (call, a) -> call.equals(failing) ? (Integer) 2 : null);
      var driver = new CudaDriver(broken);
      var verdict = new CudaBackendProvider.Verdict(null, driver, 1);
      var provider =
          new CudaBackendProvider(
              verdict, new DeviceSessions(driver, 0, c -> new KernelImage(part -> new byte[1])));
      Throwable ahead = catchThrowable(() -> provider.open(0));
      assertThat(ahead).as(failing).isNotNull();
      if (!failing.equals("hostAllocate")) {
        assertThatThrownBy(() -> provider.create(0)).hasMessage(ahead.getMessage());
      }
      assertThat(LiveResources.total()).as(failing).isEqualTo(before);
    }
  }

  @Test
  void anIdleSessionIsClosed() throws InterruptedException {
    long before = LiveResources.total();
    DeviceSessions sessions = sessions(30);
    sessions.acquire(0).close();
    waitFor(before);
    sessions.acquire(0).close();
    waitFor(before);
    assertThat(calls).filteredOn("primaryContextRetain"::equals).hasSize(2);
  }

  @Test
  void aKeptSessionIsClosedOnceItIsKeptNoLonger() throws InterruptedException {
    long before = LiveResources.total();
    var kept = new AtomicBoolean(true);
    var asked = new CountDownLatch(3);
    DeviceSessions sessions =
        sessions(10)
            .keptWhile(
                () -> {
                  asked.countDown();
                  return kept.get();
                });
    sessions.acquire(0).close();
    assertThat(asked.await(30, TimeUnit.SECONDS)).isTrue();
    sessions.acquire(0).close();
    assertThat(calls).containsExactlyElementsOf(OPENED);
    kept.set(false);
    waitFor(before);
    sessions.acquire(0).close();
    assertThat(calls).filteredOn("primaryContextRetain"::equals).hasSize(2);
    waitFor(before);
  }

  @Test
  void whatATaskHeldIsFreedBehindItAndBeforeTheNext() throws Exception {
    long before = LiveResources.total();
    DeviceSessions sessions = sessions(300_000);
    var mayEnd = new CountDownLatch(1);
    var freed = new AtomicReference<Thread>();
    DeviceSessions.Lease lease = sessions.acquire(0);
    DeviceSession session = lease.session();
    lease.closeAfter(
        () -> {
          await(mayEnd);
          freed.set(Thread.currentThread());
        });
    assertThat(freed).hasNullValue();
    var next =
        CompletableFuture.supplyAsync(
            () -> {
              try (DeviceSessions.Lease second = sessions.acquire(0)) {
                assertThat(freed).doesNotHaveNullValue();
                return second.session();
              }
            });
    sessions.acquire(1).close();
    assertThat(next).isNotDone();
    mayEnd.countDown();
    assertThat(next.get(10, TimeUnit.SECONDS)).isSameAs(session);
    assertThat(freed.get()).isNotSameAs(Thread.currentThread());
    sessions.closeIdle();
    assertThat(LiveResources.total()).isEqualTo(before);
  }

  @Test
  void anEndWaitsForWhatIsBeingFreed() {
    long before = LiveResources.total();
    DeviceSessions sessions = sessions(300_000);
    DeviceSessions.Lease lease = sessions.acquire(0);
    var buffer = new DeviceBuffer(lease.session().device().driver(), 100);
    lease.closeAfter(
        () -> {
          pause(50);
          buffer.close();
        });
    sessions.closeIdle();
    assertThat(LiveResources.total()).isEqualTo(before);
  }

  @Test
  void withoutIdleTimeWhatATaskHeldIsFreedAtOnce() {
    long before = LiveResources.total();
    DeviceSessions.Lease lease = sessions(0).acquire(0);
    var by = new AtomicReference<Thread>();
    lease.closeAfter(() -> by.set(Thread.currentThread()));
    assertThat(by).hasValue(Thread.currentThread());
    assertThat(LiveResources.total()).isEqualTo(before);
  }

  @Test
  void aFreeThatFailsLeavesTheSessionAndALostContextIsToldToTheNext() {
    long before = LiveResources.total();
    DeviceSessions sessions = sessions(300_000);
    DeviceSessions.Lease lease = sessions.acquire(0);
    DeviceSession session = lease.session();
    lease.closeAfter(
        () -> {
          throw new CudaException("cuMemFree failed", "cuMemFree", 1);
        });
    DeviceSessions.Lease second = sessions.acquire(0);
    assertThat(second.session()).isSameAs(session);
    second.closeAfter(
        () -> {
          throw new FatalCudaException("cuStreamDestroy failed", "cuStreamDestroy", 700);
        });
    assertThatThrownBy(() -> sessions.acquire(0))
        .isInstanceOf(FatalCudaException.class)
        .hasMessage("cuStreamDestroy failed");
    session.close();
    assertThat(LiveResources.total()).isEqualTo(before);
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(10, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void pause(int millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void largePinnedBuffersAreNotKept() {
    var pool = new PinnedPool(new CudaDriver(FaultyCalls.of(null, (call, a) -> null)));
    long before = LiveResources.count(LiveResources.Kind.PINNED_BUFFER);
    PinnedBuffer small = pool.acquire(1);
    PinnedBuffer large = pool.acquire(1 << 28);
    pool.release(large);
    pool.release(small);
    pool.trim(1 << 28);
    assertThat(LiveResources.count(LiveResources.Kind.PINNED_BUFFER)).isEqualTo(before + 1);
    assertThat(pool.acquire(1)).isSameAs(small);
    small.close();
  }

  @Test
  void aLostContextIsDroppedAndRemembered() {
    long before = LiveResources.total();
    DeviceSessions sessions = sessions(0);
    DeviceSessions.Lease lease = sessions.acquire(0);
    DeviceSessions.Lease second = sessions.acquire(0);
    long held = LiveResources.total() - before;
    lease.lost(new FatalCudaException("cuLaunchKernel failed", "cuLaunchKernel", 700));
    lease.close();
    second.close();
    sessions.closeIdle();
    assertThatThrownBy(() -> sessions.acquire(0))
        .isInstanceOf(FatalCudaException.class)
        .hasMessage("cuLaunchKernel failed");
    assertThat(calls).containsExactlyElementsOf(OPENED);
    assertThat(LiveResources.total() - before).isEqualTo(held);
    sessions.acquire(1).close();
    // In production the process would end here; this one continues with other tests.
    lease.session().close();
    assertThat(LiveResources.total()).isEqualTo(before);
  }

  @Test
  void whatCannotBeOpenedLeavesNothing() {
    long before = LiveResources.total();
    var sessions =
        new DeviceSessions(
            new CudaDriver(FaultyCalls.of(null, (c, a) -> c.equals("moduleLoad") ? 209 : null)),
            1000,
            capability -> new KernelImage(part -> new byte[1]));
    for (int i = 0; i < 2; i++) {
      assertThatThrownBy(() -> sessions.acquire(0))
          .hasMessage("cuModuleLoadData failed: CUDA_ERROR_209 (209)");
      assertThat(LiveResources.total()).isEqualTo(before);
    }
  }
}
