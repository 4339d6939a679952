/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cpu;

import io.sparqr.numeric.dense.Crew;
import io.sparqr.numeric.dense.DenseKernels;
import java.util.PriorityQueue;
import java.util.concurrent.CancellationException;
import java.util.function.IntConsumer;

/**
 * Works off a task's tree with several threads: the first ready unit in postorder goes to the next
 * free thread, which keeps few blocks alive; a thread that finds no ready unit, or none that there
 * is memory for ({@link UnitBooking}), helps with a large front of another. Numbers never depend on
 * who does what: a front's arithmetic is the same with and without help. Threads live as long as
 * the call; the caller is one of them.
 */
final class TreeRun {

  private static final int SPINS = 20_000;
  private static final int SHARES_PER_THREAD = 16;

  private final SubtreeState state;
  private final DenseKernels kernels;
  private final int threads;
  private final TreeUnits units;
  private final UnitBooking booking;
  private final PriorityQueue<Integer> ready = new PriorityQueue<>();
  private final SharedJob[] open;
  private int unitsLeft;
  private Throwable failure;

  /** Whether there is a failure; read without the lock. */
  private volatile boolean failed;

  /** Counts events that idle threads wait for; read without the lock while spinning. */
  private volatile int events;

  TreeRun(SubtreeState state, DenseKernels kernels, int threads) {
    this.state = state;
    this.kernels = kernels;
    this.threads = threads;
    this.units = TreeUnits.cut(state, threads == 1 ? 1 : SHARES_PER_THREAD * threads);
    this.open = new SharedJob[threads];
    this.unitsLeft = units.count();
    this.booking = new UnitBooking(state, units, UnitBooking.slack(threads));
    admit();
  }

  /** Takes in as many units as there is memory for, in postorder; under the lock. */
  private boolean admit() {
    boolean more = false;
    for (int u = booking.admit(); u >= 0; u = booking.admit()) {
      if (units.pending[u] == 0) {
        ready.add(u);
        more = true;
      }
    }
    return more;
  }

  /** Returns when every front is done; throws what the first failing thread threw. */
  void run() {
    if (Thread.currentThread().isInterrupted()) {
      throw new CancellationException("interrupted before the first front");
    }
    var others = new Thread[threads - 1];
    for (int t = 1; t < threads; t++) {
      int worker = t;
      others[t - 1] = new Thread(() -> work(worker), "sparqr-cpu-" + t);
      others[t - 1].setDaemon(true);
      others[t - 1].start();
    }
    work(0);
    boolean interrupted = false;
    for (Thread other : others) {
      while (other.isAlive()) {
        try {
          other.join();
        } catch (InterruptedException e) {
          interrupted = true;
          fail(new CancellationException("interrupted while factoring a subtree"));
        }
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    if (failure instanceof Error e) {
      throw e;
    }
    if (failure instanceof RuntimeException e) {
      throw e;
    }
  }

  private void work(int worker) {
    try {
      FrontWorker fronts = null;
      Crew crew =
          (count, task) -> {
            IntConsumer piece =
                i -> {
                  stopIfTold();
                  task.accept(i);
                };
            if (threads == 1) {
              Crew.ALONE.run(count, piece);
            } else {
              share(worker, count, piece);
            }
          };
      boolean spun = false;
      while (true) {
        SharedJob job;
        int unit;
        int seen;
        synchronized (this) {
          if (failure != null || unitsLeft == 0) {
            return;
          }
          unit = ready.isEmpty() ? -1 : ready.poll();
          job = unit < 0 ? openJob() : null;
          if (unit < 0 && job == null && spun) {
            waitForEvent();
          }
          seen = events;
        }
        if (unit >= 0) {
          fronts = fronts == null ? new FrontWorker(state, kernels) : fronts;
          runUnit(unit, fronts, crew);
          finish(unit);
          spun = false;
        } else if (job != null) {
          job.help();
          spun = false;
        } else if (!spun) {
          spin(seen);
          spun = true;
        }
      }
    } catch (RuntimeException | Error e) {
      fail(e);
    }
  }

  private void runUnit(int unit, FrontWorker fronts, Crew crew) {
    for (int i = units.start[unit]; i < units.start[unit + 1]; i++) {
      if (Thread.currentThread().isInterrupted()) {
        throw new CancellationException("interrupted at front " + state.front(i));
      }
      fronts.process(i, crew);
    }
  }

  /**
   * Between two pieces of a large front: it may take minutes, and its owner is seldom the caller.
   */
  private void stopIfTold() {
    if (Thread.currentThread().isInterrupted()) {
      throw new CancellationException("interrupted within a front");
    }
    if (failed) {
      throw new CancellationException("another thread of the task failed");
    }
  }

  private synchronized void finish(int unit) {
    boolean more = --unitsLeft == 0;
    for (int i = units.start[unit]; i < units.start[unit + 1]; i++) {
      int parent = state.parentIndex(i);
      if (parent >= 0 && units.unitOf[parent] != unit) {
        int above = units.unitOf[parent];
        if (--units.pending[above] == 0 && booking.isAdmitted(above)) {
          ready.add(above);
          more = true;
        }
      }
    }
    booking.finished(unit);
    more |= admit();
    if (more) {
      event();
    }
  }

  private void share(int worker, int count, IntConsumer task) {
    if (count == 1) {
      task.accept(0);
      return;
    }
    var job = new SharedJob(count, task);
    synchronized (this) {
      open[worker] = job;
      event();
    }
    job.help();
    job.await();
    synchronized (this) {
      open[worker] = null;
    }
  }

  private SharedJob openJob() {
    for (SharedJob job : open) {
      if (job != null && job.hasMore()) {
        return job;
      }
    }
    return null;
  }

  private synchronized void fail(Throwable e) {
    if (failure == null) {
      failure = e;
      failed = true;
    }
    event();
  }

  /** Under the lock. */
  private void event() {
    events = events + 1;
    notifyAll();
  }

  /** Steps of a large front follow each other within microseconds: look before sleeping. */
  private void spin(int seen) {
    for (int i = 0; i < SPINS && events == seen; i++) {
      Thread.onSpinWait();
    }
  }

  private void waitForEvent() {
    try {
      wait();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CancellationException("interrupted while waiting for work");
    }
  }
}
