/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads that help one caller with many short loops, of some ten microseconds, between which a
 * queue would take longer than the work. They wait actively for a while, then sleep. The caller
 * waits only for pieces that somebody has begun: alone, it does everything itself.
 */
final class HelperTeam implements AutoCloseable {

  /** A piece of a loop, for the caller, worker 0, or a helper, from 1 on. */
  interface Work {
    void run(int piece, int worker);
  }

  private static final long ACTIVE_NANOS = 200_000;

  /** Looks at the loop between looks at the clock, or before a busy processor is given up. */
  private static final int SPINS = 64;

  /** Pieces that nobody has begun; the next to be taken is the last of them. */
  private final AtomicInteger open = new AtomicInteger();

  /** Pieces not yet done. */
  private final AtomicInteger undone = new AtomicInteger();

  private final AtomicInteger asleep = new AtomicInteger();
  private final AtomicReference<Throwable> failure = new AtomicReference<>();
  private final Thread[] helpers;

  /** Written before a loop is open and read by those who have a piece of it. */
  private Work work;

  private volatile boolean closed;

  /** Starts the helpers. */
  HelperTeam(int helpers, String name) {
    this.helpers = new Thread[helpers];
    for (int k = 0; k < helpers; k++) {
      int worker = k + 1;
      Thread thread = new Thread(() -> help(worker), name + "-" + worker);
      thread.setDaemon(true);
      this.helpers[k] = thread;
      thread.start();
    }
  }

  /** Whether all helpers wait actively. */
  boolean awake() {
    return asleep.get() == 0;
  }

  /** Runs pieces 0 .. pieces-1 and returns when all are done; throws what one has thrown. */
  void run(int pieces, Work work) {
    this.work = work;
    undone.set(pieces);
    open.set(pieces);
    if (!awake()) {
      wake();
    }
    takePart(0);
    for (int spins = 1; undone.get() > 0; spins++) {
      pause(spins);
    }
    Throwable thrown = failure.getAndSet(null);
    if (thrown instanceof Error e) {
      throw e;
    }
    if (thrown instanceof RuntimeException e) {
      throw e;
    }
  }

  private void takePart(int worker) {
    for (int piece = take(); piece >= 0; piece = take()) {
      try {
        work.run(piece, worker);
      } catch (RuntimeException | Error e) {
        failure.compareAndSet(null, e);
      } finally {
        undone.getAndDecrement();
      }
    }
  }

  /** The number of a piece, now the worker's, or -1. */
  private int take() {
    int now = open.get();
    while (now > 0 && !open.compareAndSet(now, now - 1)) {
      now = open.get();
    }
    return now - 1;
  }

  private void help(int worker) {
    long idleSince = System.nanoTime();
    for (int spins = 1; !closed; spins++) {
      if (open.get() > 0) {
        takePart(worker);
        idleSince = System.nanoTime();
      } else if (spins % SPINS == 0 && System.nanoTime() - idleSince > ACTIVE_NANOS) {
        sleep();
        idleSince = System.nanoTime();
      } else {
        Thread.onSpinWait();
      }
    }
  }

  private void sleep() {
    asleep.getAndIncrement();
    // Who opens a loop after this look finds the helper asleep and wakes it.
    if (open.get() == 0 && !closed) {
      LockSupport.park(this);
    }
    asleep.getAndDecrement();
  }

  private static void pause(int spins) {
    if (spins % SPINS == 0) {
      Thread.yield();
    } else {
      Thread.onSpinWait();
    }
  }

  private void wake() {
    for (Thread helper : helpers) {
      LockSupport.unpark(helper);
    }
  }

  /** Ends the helpers and waits until they have ended. */
  @Override
  public void close() {
    closed = true;
    wake();
    boolean interrupted = false;
    for (Thread helper : helpers) {
      while (helper.isAlive()) {
        try {
          helper.join();
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
