/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

import io.sparqr.backend.cuda.driver.CudaDevice;
import io.sparqr.backend.cuda.driver.CudaDriver;
import io.sparqr.backend.cuda.driver.KernelImage;
import io.sparqr.backend.cuda.driver.LiveResources;
import io.sparqr.backend.cuda.resident.DeviceSession;
import io.sparqr.error.FatalCudaException;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.function.BooleanSupplier;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * One {@link DeviceSession} per device, shared by all users and closed when it has been idle for a
 * while and no rows of R are left on its device, unless sessions are kept ({@link #keptWhile}), or
 * when the JVM ends. After a sticky error the session is abandoned, since nothing in it can be
 * released any more, and every later use gets the first error's message. Thread-safe.
 */
public final class DeviceSessions {

  private final CudaDriver driver;
  private final long idleMillis;
  private final IntFunction<KernelImage> image;
  private final Map<Integer, Slot> slots = new ConcurrentHashMap<>();
  private BooleanSupplier kept = () -> false;
  private @Nullable ScheduledThreadPoolExecutor timer;

  /** Guarded by its own monitor. */
  private static final class Slot {
    @Nullable DeviceSession session;
    int users;
    @Nullable ScheduledFuture<?> closing;
    @Nullable FatalCudaException lost;

    /** What finished tasks held and is being freed; each ends with the return of its lease. */
    final Set<CompletableFuture<Void>> freeing = ConcurrentHashMap.newKeySet();

    /** Waits until all of that is free. Not under the monitor. */
    void settle() {
      freeing.forEach(CompletableFuture::join);
    }
  }

  /** A user's right to a session until close(). */
  public final class Lease implements AutoCloseable {

    private final Slot slot;
    private final DeviceSession session;
    private boolean open = true;

    private Lease(Slot slot, DeviceSession session) {
      this.slot = slot;
      this.session = session;
    }

    public DeviceSession session() {
      return session;
    }

    /** Marks the context as lost for all users. */
    void lost(FatalCudaException error) {
      DeviceSessions.lost(slot, session, error);
    }

    /**
     * Frees what a finished task held and returns the session. If sessions are kept, on a thread of
     * its own: the driver takes ten milliseconds to free gigabytes and to destroy streams, for
     * which the result need not wait. The next user of the device does.
     *
     * @param free with the device's context current
     */
    void closeAfter(Runnable free) {
      if (idleMillis == 0) {
        freed(free);
        return;
      }
      var done = new CompletableFuture<Void>();
      slot.freeing.add(done);
      var thread =
          new Thread(
              () -> {
                try {
                  quietly(() -> freed(free));
                } finally {
                  slot.freeing.remove(done);
                  done.complete(null);
                }
              },
              "sparqr-cuda-free");
      thread.setDaemon(true);
      try {
        thread.start();
      } catch (OutOfMemoryError e) {
        // no thread to be had
        slot.freeing.remove(done);
        done.complete(null);
        freed(free);
      }
    }

    private void freed(Runnable free) {
      try {
        session.device().bind();
        free.run();
      } catch (FatalCudaException e) {
        lost(e);
        throw e;
      } finally {
        close();
      }
    }

    /** Returns the session; idempotent. */
    @Override
    public void close() {
      synchronized (slot) {
        if (open) {
          open = false;
          if (slot.session == session && --slot.users == 0) {
            rest(slot, session);
          }
        }
      }
    }
  }

  /**
   * Sessions with the kernels of the jar.
   *
   * @param idleMillis how long an idle session is kept; 0: not at all
   */
  public DeviceSessions(CudaDriver driver, long idleMillis) {
    this(driver, idleMillis, KernelImage::of);
  }

  DeviceSessions(CudaDriver driver, long idleMillis, IntFunction<KernelImage> image) {
    this.driver = driver;
    this.idleMillis = idleMillis;
    this.image = image;
  }

  /** Keeps idle sessions while something is true, which is asked whenever one has been idle. */
  DeviceSessions keptWhile(BooleanSupplier something) {
    kept = something;
    return this;
  }

  /** Closes idle sessions when the JVM ends. */
  DeviceSessions closedAtExit() {
    Runtime.getRuntime().addShutdownHook(new Thread(this::closeAtExit, "sparqr-cuda-exit"));
    return this;
  }

  private void closeAtExit() {
    slots.values().forEach(Slot::settle);
    slots.values().forEach(slot -> quietly(() -> discardRows(slot)));
    closeIdle();
  }

  private static void discardRows(Slot slot) {
    synchronized (slot) {
      if (slot.session != null && slot.users == 0) {
        slot.session.residents().discard();
      }
    }
  }

  /**
   * A lease on a device's session, which is opened if needed. Waits until what earlier tasks held
   * there is free.
   *
   * @throws FatalCudaException if the device's context was lost in this JVM
   */
  public Lease acquire(int ordinal) {
    Slot slot = slots.computeIfAbsent(ordinal, o -> new Slot());
    slot.settle();
    synchronized (slot) {
      if (slot.lost != null) {
        throw new FatalCudaException(
            String.valueOf(slot.lost.getMessage()), slot.lost.call(), slot.lost.code());
      }
      if (slot.closing != null) {
        slot.closing.cancel(false);
        slot.closing = null;
      }
      if (slot.session == null) {
        slot.session =
            new DeviceSession(driver, ordinal, image.apply(CudaDevice.capability(driver, ordinal)));
        slot.users = 0;
        DeviceSession session = slot.session;
        session.onLost(e -> lost(slot, session, e));
      }
      slot.users++;
      return new Lease(slot, slot.session);
    }
  }

  private static void lost(Slot slot, DeviceSession session, FatalCudaException error) {
    synchronized (slot) {
      session.residents().abandon();
      if (slot.session == session) {
        slot.lost = error;
        slot.session = null;
        slot.users = 0;
      }
    }
  }

  private void rest(Slot slot, DeviceSession session) {
    if (idleMillis == 0) {
      closeIfIdle(slot);
      return;
    }
    schedule(slot);
    session.rest();
  }

  private void schedule(Slot slot) {
    slot.closing = timer().schedule(() -> quietly(() -> end(slot)), idleMillis, MILLISECONDS);
  }

  /** Closes an idle session, unless it is kept or rows of R on its device may still be used. */
  private void end(Slot slot) {
    DeviceSession session;
    synchronized (slot) {
      if (slot.session == null || slot.users > 0) {
        return;
      }
      session = slot.session;
      slot.users++;
    }
    try {
      // As a user and not under the monitor: rows of R may go to the host before they are freed.
      session.residents().expire();
    } finally {
      synchronized (slot) {
        if (slot.session == session && --slot.users == 0) {
          if (session.residents().isEmpty() && !kept.getAsBoolean()) {
            closeIfIdle(slot);
          } else {
            schedule(slot);
          }
        }
      }
    }
  }

  /** The timer's thread ends when it has nothing to wait for. */
  private synchronized ScheduledThreadPoolExecutor timer() {
    if (timer == null) {
      timer =
          new ScheduledThreadPoolExecutor(
              1,
              r -> {
                var thread = new Thread(r, "sparqr-cuda-idle");
                thread.setDaemon(true);
                return thread;
              });
      timer.setRemoveOnCancelPolicy(true);
      timer.setKeepAliveTime(1, SECONDS);
      timer.allowCoreThreadTimeOut(true);
    }
    return timer;
  }

  private static void quietly(Runnable close) {
    try {
      close.run();
    } catch (RuntimeException e) {
      // Nothing waits for this close; the next user opens a new session and gets any error.
      LiveResources.suppressed();
    }
  }

  private static void closeIfIdle(Slot slot) {
    synchronized (slot) {
      if (slot.session != null && slot.users == 0) {
        DeviceSession session = slot.session;
        slot.session = null;
        session.close();
      }
    }
  }

  /** Closes every idle session now, with the rows of R on its device. */
  void closeIdle() {
    slots.values().forEach(Slot::settle);
    slots.values().forEach(slot -> quietly(() -> closeIfIdle(slot)));
  }
}
