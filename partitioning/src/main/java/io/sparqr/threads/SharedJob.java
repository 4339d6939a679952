/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.threads;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/** Pieces of one large step, claimed in order by its owner and by idle threads. */
final class SharedJob {

  private final int count;
  private final IntConsumer task;
  private final AtomicInteger next = new AtomicInteger();
  private final AtomicInteger finished = new AtomicInteger();
  private volatile @Nullable Throwable failure;

  SharedJob(int count, IntConsumer task) {
    this.count = count;
    this.task = task;
  }

  boolean hasMore() {
    return next.get() < count;
  }

  /** Runs pieces until none is left to claim. */
  void help() {
    int i;
    while ((i = next.getAndIncrement()) < count) {
      try {
        if (failure == null) {
          task.accept(i);
        }
      } catch (RuntimeException | Error e) {
        failure = e;
      } finally {
        finished.incrementAndGet();
      }
    }
  }

  /** Waits for the pieces claimed by other threads. */
  void await() {
    int spins = 0;
    while (finished.get() < count) {
      if (++spins < 10_000) {
        Thread.onSpinWait();
      } else {
        Thread.yield();
      }
    }
    if (failure instanceof Error e) {
      throw e;
    }
    if (failure instanceof RuntimeException e) {
      throw e;
    }
  }
}
