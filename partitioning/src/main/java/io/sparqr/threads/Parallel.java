/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.threads;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Loops over independent indices on a few host threads; results must not depend on their number.
 */
public final class Parallel {

  /** Body of a loop: indices [from, to), on the given thread (0 .. threads-1). */
  @FunctionalInterface
  public interface Body {
    /** Processes the indices [from, to). */
    void run(int from, int to, int thread);
  }

  private Parallel() {}

  /**
   * Runs body over [0, n) in pieces of {@code grain}, on at most {@code threads} threads, the
   * caller's included. Rethrows the first unchecked exception or error after all threads have
   * ended.
   */
  public static void loop(int n, int grain, int threads, Body body) {
    int pieces = (int) ((n + (long) grain - 1) / grain);
    int helpers = Math.min(threads, pieces) - 1;
    var next = new AtomicInteger();
    var failure = new AtomicReference<Throwable>();
    List<Future<?>> others = new ArrayList<>();
    for (int t = 0; t < helpers; t++) {
      int id = t + 1;
      others.add(HostThreads.start(() -> work(n, grain, pieces, next, failure, body, id)));
    }
    work(n, grain, pieces, next, failure, body, 0);
    HostThreads.join(others);
    Throwable f = failure.get();
    if (f instanceof Error e) {
      throw e;
    }
    if (f != null) {
      throw (RuntimeException) f;
    }
  }

  private static void work(
      int n,
      int grain,
      int pieces,
      AtomicInteger next,
      AtomicReference<Throwable> failure,
      Body body,
      int id) {
    try {
      for (int p = next.getAndIncrement();
          p < pieces && failure.get() == null;
          p = next.getAndIncrement()) {
        body.run(p * grain, (int) Math.min(n, (p + 1L) * grain), id);
      }
    } catch (RuntimeException | Error e) {
      failure.compareAndSet(null, e);
    }
  }
}
