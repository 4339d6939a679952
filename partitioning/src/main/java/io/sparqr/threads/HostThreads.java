/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.threads;

import io.sparqr.jvm.JvmPart;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Threads for short pieces of host work beside the caller's own: kept for some seconds, because
 * creating one costs as much as adding a hundred thousand numbers. There is no limit on their
 * number, so that work waiting for other such work never waits for a thread.
 */
public final class HostThreads {

  private static final int KEEP_SECONDS = 5;

  private static final JvmPart<Pool> POOL = JvmPart.of("host threads", Pool::new);

  private HostThreads() {}

  /** Ends its threads when they are idle, or at once when it is closed. */
  private record Pool(ExecutorService threads) implements AutoCloseable {

    Pool() {
      this(pool());
    }

    @Override
    public void close() {
      threads.shutdown();
    }
  }

  private static ExecutorService pool() {
    var number = new AtomicInteger();
    return new ThreadPoolExecutor(
        0,
        Integer.MAX_VALUE,
        KEEP_SECONDS,
        TimeUnit.SECONDS,
        new SynchronousQueue<>(),
        r -> {
          var thread = new Thread(r, "sparqr-host-" + number.getAndIncrement());
          thread.setDaemon(true);
          return thread;
        });
  }

  /** Starts work on a separate thread at once; the work itself must catch its exceptions. */
  public static Future<?> start(Runnable work) {
    return POOL.get().threads().submit(work);
  }

  /**
   * Waits until all have ended; an interrupt meanwhile is restored afterwards.
   *
   * @param all results of {@link #start}
   */
  public static void join(Iterable<? extends Future<?>> all) {
    boolean interrupted = false;
    for (Future<?> f : all) {
      while (!f.isDone()) {
        try {
          f.get();
        } catch (InterruptedException e) {
          interrupted = true;
        } catch (java.util.concurrent.ExecutionException e) {
          throw new IllegalStateException("work that does not catch what it throws", e.getCause());
        }
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
