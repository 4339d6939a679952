/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cpu;

import io.sparqr.symbolic.FrontMemory;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.threads.TreeUnits;

/**
 * Lets several threads into a task's tree with hardly more memory than one would take: units are
 * admitted in postorder as long as what is held and what all admitted ones may yet need is at most
 * the peak of a single thread and a slack. It cannot lock up: when no admitted unit is left, what
 * is held is what a single thread holds at this place, and its next unit fits. (Activation in
 * Eyraud-Dubois, Marchal, Sinnen and Vivien 2015, "Parallel scheduling of task trees with limited
 * memory", ACM Trans. Parallel Comput. 2(2), section 5.1.)
 *
 * <p>Goes by planned sizes, so that the same units are admitted at the same finished ones whatever
 * is found on the way. Not thread-safe.
 */
final class UnitBooking {

  private static final long THREAD_BYTES = 32L << 20;

  private final long budget;
  private final long[] peak;
  private final long[] left;
  private int next;
  private long booked;

  /** What a tree's units need, and so many bytes more than one thread's peak. O(fronts). */
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
        long pivots = Math.min(analysis.fp(f), analysis.fm(f));
        long result = FrontMemory.contributionBytes(pivots, analysis.fn(f), rhs);
        long work = FrontMemory.hostBytes(analysis.fm(f), analysis.fn(f), rhs);
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
   * What several threads may take beyond one's peak, so that small fronts are worked on side by
   * side: 32 MB each, a sixteenth of the heap at most, which the planned share leaves.
   */
  static long slack(int threads) {
    return Math.min((threads - 1) * THREAD_BYTES, Runtime.getRuntime().maxMemory() / 16);
  }

  /** What the whole tree may take at once. */
  long budget() {
    return budget;
  }

  /** The most that a unit takes at once beyond what is held before it. */
  long peak(int unit) {
    return peak[unit];
  }

  /**
   * What a unit adds to what is held when it is done; negative where it takes more than it leaves.
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

  /** Whether a unit may be worked on as soon as those below it are done. */
  boolean isAdmitted(int unit) {
    return unit < next;
  }

  /** A unit is done: what it needed is free but for what it leaves. */
  void finished(int unit) {
    booked += left[unit] - peak[unit];
  }
}
