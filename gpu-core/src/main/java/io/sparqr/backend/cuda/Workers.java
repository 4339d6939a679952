/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

/** Host threads of an executor, the device's context current in each. */
final class Workers implements AutoCloseable {

  /** What one thread does with item i. */
  @FunctionalInterface
  interface Step {
    void run(int i);
  }

  private final CudaDevice device;
  private final int threads;
  private final ExecutorService pool;

  Workers(CudaDevice device, int threads) {
    this.device = device;
    this.threads = threads;
    var number = new AtomicInteger();
    pool =
        Executors.newFixedThreadPool(
            threads,
            r -> {
              var thread = new Thread(r, "sparqr-cuda-" + number.getAndIncrement());
              thread.setDaemon(true);
              return thread;
            });
  }

  /** Starts items 0 .. count - 1, taken in this order; {@link Running#join} waits. */
  Running start(int count, Step step) {
    var next = new AtomicInteger();
    List<Future<?>> futures = new ArrayList<>();
    for (int t = 0; t < Math.min(threads, count); t++) {
      futures.add(
          pool.submit(
              () -> {
                device.bind();
                for (int i = next.getAndIncrement(); i < count; i = next.getAndIncrement()) {
                  try {
                    step.run(i);
                  } catch (RuntimeException | Error e) {
                    next.set(count);
                    throw e;
                  }
                }
              }));
    }
    return new Running(futures);
  }

  /** Runs them all and waits. */
  void run(int count, Step step) {
    start(count, step).join();
  }

  @Override
  public void close() {
    pool.shutdown();
  }

  /** Work under way. */
  record Running(List<Future<?>> futures) {

    /** Waits for all, then throws the first failure, if any. */
    void join() {
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
