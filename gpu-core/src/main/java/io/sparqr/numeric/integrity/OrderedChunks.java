/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.integrity;

import io.sparqr.threads.HostThreads;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Chunks of work on a few threads, whose results are merged one after the other in the order of the
 * chunks, so that sums do not depend on the number of threads.
 */
final class OrderedChunks {

  /** The work of one thread, which keeps a chunk's result until it is merged. */
  interface Worker {
    /** Computes a chunk; several at a time, each on its own worker. */
    void compute(int chunk);

    /** Merges the result of this worker's last chunk; one at a time, in order. */
    void takeOver(int chunk);
  }

  /** Creates the worker of a thread. */
  interface Workers {
    Worker make();
  }

  private final int chunks;
  private final Workers workers;
  private final AtomicInteger next = new AtomicInteger();
  private int turn;
  private @Nullable Throwable failure;

  private OrderedChunks(int chunks, Workers workers) {
    this.chunks = chunks;
    this.workers = workers;
  }

  /** Runs chunks 0 .. chunks-1; rethrows the first unchecked exception or error. */
  static void run(int chunks, int threads, Workers workers) {
    var all = new OrderedChunks(chunks, workers);
    List<Future<?>> others = new ArrayList<>();
    for (int t = 1; t < Math.min(threads, chunks); t++) {
      others.add(HostThreads.start(all::work));
    }
    all.work();
    HostThreads.join(others);
    if (all.failure instanceof Error e) {
      throw e;
    }
    if (all.failure != null) {
      throw (RuntimeException) all.failure;
    }
  }

  private void work() {
    try {
      Worker worker = workers.make();
      for (int c = next.getAndIncrement(); c < chunks; c = next.getAndIncrement()) {
        worker.compute(c);
        if (!awaitTurn(c)) {
          return;
        }
        worker.takeOver(c);
        passTurn();
      }
    } catch (RuntimeException | Error e) {
      fail(e);
    }
  }

  /**
   * False if another thread failed. The wait is short and always ends, so an interrupt is deferred
   * until then.
   */
  private synchronized boolean awaitTurn(int chunk) {
    boolean interrupted = false;
    while (turn != chunk && failure == null) {
      try {
        wait();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    return failure == null;
  }

  private synchronized void passTurn() {
    turn++;
    notifyAll();
  }

  private synchronized void fail(Throwable e) {
    if (failure == null) {
      failure = e;
    }
    notifyAll();
  }
}
