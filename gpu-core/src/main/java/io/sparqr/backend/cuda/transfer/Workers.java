/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda.transfer;

import io.sparqr.backend.cuda.driver.CudaDevice;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Host threads of an executor, the device's context current in each. */
public final class Workers implements AutoCloseable {

  /** The work of one thread on item i. */
  @FunctionalInterface
  public interface Step {
    void run(int i);
  }

  private final CudaDevice device;
  private final int threads;
  private final ThreadPoolExecutor pool;

  /** Starts no thread before there is work. */
  public Workers(CudaDevice device, int threads) {
    this.device = device;
    this.threads = threads;
    var number = new AtomicInteger();
    pool =
        new ThreadPoolExecutor(
            threads,
            threads,
            0,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            r -> {
              var thread = new Thread(r, "sparqr-cuda-" + number.getAndIncrement());
              thread.setDaemon(true);
              return thread;
            });
  }

  /** The number of threads that work at the same time. */
  public int threads() {
    return threads;
  }

  /** Starts items 0 .. count - 1, taken in this order; {@link Running#join} waits. */
  public Running start(int count, Step step) {
    return new Running(helpers(Math.min(threads, count), new AtomicInteger(), count, step));
  }

  /**
   * Runs all items and waits. The calling thread, in which the device's context must be current,
   * takes items too; if all others are busy, it runs them alone.
   */
  public void run(int count, Step step) {
    var next = new AtomicInteger();
    List<Future<?>> helpers = helpers(Math.min(threads, count - 1), next, count, step);
    try {
      items(next, count, step);
    } finally {
      // Helpers that have not begun are no longer needed.
      helpers.removeIf(f -> pool.remove((Runnable) f));
      new Running(helpers).join();
    }
  }

  private List<Future<?>> helpers(int many, AtomicInteger next, int count, Step step) {
    List<Future<?>> futures = new ArrayList<>();
    for (int t = 0; t < many; t++) {
      futures.add(
          pool.submit(
              () -> {
                device.bind();
                items(next, count, step);
              }));
    }
    return futures;
  }

  /** Takes items until there are none, or until any thread has failed. */
  private static void items(AtomicInteger next, int count, Step step) {
    for (int i = next.getAndIncrement(); i < count; i = next.getAndIncrement()) {
      try {
        step.run(i);
      } catch (RuntimeException | Error e) {
        next.set(count);
        throw e;
      }
    }
  }

  @Override
  public void close() {
    pool.shutdown();
  }

  /** Work that has been handed to the threads and may not have ended. */
  public record Running(List<Future<?>> futures) {

    /** Waits for all, then throws the first failure, if any. */
    public void join() {
      Throwable failure = null;
      boolean interrupted = false;
      for (Future<?> f : futures) {
        while (true) {
          try {
            f.get();
          } catch (InterruptedException e) {
            interrupted = true;
            continue;
          } catch (ExecutionException e) {
            failure = failure == null ? e.getCause() : failure;
          }
          break;
        }
      }
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
      if (failure instanceof Error error) {
        throw error;
      }
      if (failure != null) {
        throw (RuntimeException) failure;
      }
    }
  }
}
