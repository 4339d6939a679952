/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.threads;

import java.util.concurrent.CancellationException;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs units of work with dependencies on several threads: a ready unit goes to the next free
 * thread, and a thread without one helps with another thread's large unit. Results must not depend
 * on the assignment. Threads live as long as the call; the caller is one of them.
 *
 * @param <W> workspaces of a thread
 */
public final class UnitThreads<W> {

  private static final int SPINS = 20_000;

  private final Units<W> units;
  private final int threads;
  private final @Nullable SharedJob[] open;
  private @Nullable Throwable failure;

  /** Whether there is a failure; read without the lock. */
  private volatile boolean failed;

  /** Counts events that idle threads wait for; read without the lock while spinning. */
  private volatile int events;

  /**
   * The units and their dependencies. All methods but {@link #workspace} and {@link #run} are
   * called by one thread at a time.
   *
   * @param <W> workspaces of a thread
   */
  public interface Units<W> {

    /** Whether every unit is finished. */
    boolean isDone();

    /** Takes a ready unit; -1 if there is none. */
    int next();

    /** Creates a thread's workspaces, before its first unit. */
    W workspace();

    /** Runs a unit; the crew are the idle threads. */
    void run(int unit, W workspace, Crew crew);

    /** Marks a unit as finished; returns whether another has become ready. */
    boolean finished(int unit);
  }

  private UnitThreads(Units<W> units, int threads) {
    this.units = units;
    this.threads = threads;
    this.open = new SharedJob[threads];
  }

  /**
   * Returns when every unit is finished; rethrows the error of the first failing thread.
   *
   * @param threads number of threads with the caller, at least 1
   * @param name prefix of the other threads' names
   * @throws CancellationException if the caller is interrupted; its interrupt status stays set
   */
  public static <W> void run(Units<W> units, int threads, String name) {
    new UnitThreads<>(units, threads).run(name);
  }

  private void run(String name) {
    if (Thread.currentThread().isInterrupted()) {
      throw new CancellationException("interrupted before the first unit of work");
    }
    var others = new Thread[threads - 1];
    for (int t = 1; t < threads; t++) {
      int worker = t;
      others[t - 1] = new Thread(() -> work(worker), name + "-" + t);
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
          fail(new CancellationException("interrupted while working"));
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
      W workspace = null;
      Crew crew = (count, task) -> share(worker, count, task);
      boolean spun = false;
      while (true) {
        SharedJob job;
        int unit;
        int seen;
        synchronized (this) {
          if (failure != null || units.isDone()) {
            return;
          }
          unit = units.next();
          job = unit < 0 ? openJob() : null;
          if (unit < 0 && job == null && spun) {
            waitForEvent();
          }
          seen = events;
        }
        if (unit >= 0) {
          workspace = workspace == null ? units.workspace() : workspace;
          units.run(unit, workspace, crew);
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

  private synchronized void finish(int unit) {
    if (units.finished(unit) || units.isDone()) {
      event();
    }
  }

  /**
   * Called between two pieces of a large unit, which may take minutes and whose owner is seldom the
   * caller.
   */
  private void stopIfTold() {
    if (Thread.currentThread().isInterrupted()) {
      throw new CancellationException("interrupted within a unit of work");
    }
    if (failed) {
      throw new CancellationException("another thread of the task failed");
    }
  }

  private void share(int worker, int count, IntConsumer task) {
    IntConsumer piece =
        i -> {
          stopIfTold();
          task.accept(i);
        };
    if (threads == 1 || count == 1) {
      Crew.ALONE.run(count, piece);
      return;
    }
    var job = new SharedJob(count, piece);
    synchronized (this) {
      open[worker] = job;
      event();
    }
    job.help();
    try {
      job.await();
    } finally {
      // Also after an error, which the task may survive: the job holds on to what it worked on.
      synchronized (this) {
        open[worker] = null;
      }
    }
  }

  private @Nullable SharedJob openJob() {
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

  /** Called under the lock. */
  private void event() {
    events = events + 1;
    notifyAll();
  }

  /** Steps of a large unit follow each other within microseconds: look before sleeping. */
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
