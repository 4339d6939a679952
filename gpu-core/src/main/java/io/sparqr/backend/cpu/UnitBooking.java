/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cpu;

import io.sparqr.symbolic.FrontMemory;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.threads.TreeUnits;

/**
 * Admits units to a task's threads so that they need hardly more memory than a single thread: units
 * are admitted in postorder as long as the memory held plus the future needs of all admitted units
 * is at most the peak of a single thread plus a slack. There is no deadlock: when no admitted unit
 * is left, the memory held is that of a single thread at this point, and its next unit fits.
 * (Activation in Eyraud-Dubois, Marchal, Sinnen and Vivien 2015, "Parallel scheduling of task trees
 * with limited memory", ACM Trans. Parallel Comput. 2(2), section 5.1.)
 *
 * <p>Uses planned sizes, so that admission depends only on the finished units, not on ranks found
 * during the factorization. No {@link io.sparqr.jvm.ByteBudget}, which the first to come may use
 * up: there, the unit that all others wait for could be refused. Not thread-safe.
 */
final class UnitBooking {

  private static final long THREAD_BYTES = 32L << 20;

  private final long budget;
  private final long[] peak;
  private final long[] left;
  private int next;
  private long booked;

  /**
   * Computes the needs of a tree's units; the budget is one thread's peak plus the slack.
   * O(fronts).
   */
  UnitBooking(SubtreeState state, TreeUnits units, long slack) {
    SymbolicAnalysis analysis = state.analysis();
    int rhs = state.rhsCount();
    int count = units.count();
    peak = new long[count];
    left = new long[count];
    long[] childBytes = new long[state.frontCount()];
    long held = 0;
    long most = state.arrivalBytes();
    for (int u = 0; u < count; u++) {
      long live = 0;
      long high = 0;
      for (int i = units.start(u); i < units.start(u + 1); i++) {
        int f = state.front(i);
        long block = FrontMemory.contributionBytes(analysis, f, rhs);
        long result = FrontMemory.resultBytes(analysis, f, rhs);
        long front = FrontMemory.hostBytes(analysis.fm(f), analysis.fn(f), rhs);
        long work = Math.max(front, state.groups().bytes(i));
        high = Math.max(high, live + work);
        live += block + result - childBytes[i];
        high = Math.max(high, live + FrontMemory.packedBytes(analysis, f, rhs));
        int parent = state.parentIndex(i);
        if (parent >= 0) {
          childBytes[parent] += block;
        }
      }
      peak[u] = high;
      left[u] = live;
      most = Math.max(most, held + high);
      held += live;
    }
    budget = most + slack;
  }

  /**
   * Memory for several threads beyond the peak of one, so that small fronts run in parallel: 32 MB
   * per thread, at most a sixteenth of the heap, which the plan leaves free.
   */
  static long slack(int threads) {
    return Math.min((threads - 1) * THREAD_BYTES, Runtime.getRuntime().maxMemory() / 16);
  }

  /** The memory limit for the whole tree. */
  long budget() {
    return budget;
  }

  /** The peak of a unit beyond the memory held before it. */
  long peak(int unit) {
    return peak[unit];
  }

  /**
   * The memory that a finished unit adds to the memory held; negative if it frees more than it
   * leaves.
   */
  long left(int unit) {
    return left[unit];
  }

  /** The next unit, if there is memory for it; else -1. */
  int admit() {
    if (next == peak.length || booked + peak[next] > budget) {
      return -1;
    }
    booked += peak[next];
    return next++;
  }

  /** Whether a unit may run once the units below it are done. */
  boolean isAdmitted(int unit) {
    return unit < next;
  }

  /** Frees the memory of a finished unit except for its results. */
  void finished(int unit) {
    booked += left[unit] - peak[unit];
  }
}
