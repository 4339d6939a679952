/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cpu;

import io.sparqr.numeric.dense.DenseKernels;
import io.sparqr.threads.Crew;
import io.sparqr.threads.TreeUnits;
import io.sparqr.threads.UnitThreads;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A task's tree for several threads: the first ready unit in postorder runs first, which keeps few
 * blocks alive, as soon as there is memory for it ({@link UnitBooking}). Results do not depend on
 * the assignment: a front's arithmetic is the same with and without help.
 */
final class TreeRun implements UnitThreads.Units<FrontWorker> {

  private static final int SHARES_PER_THREAD = 16;

  /** The overhead of a front, in flops. */
  static final double FRONT_OVERHEAD = 4e3;

  /**
   * Work that pays for a thread, in flops with the overhead of fronts: to start and to join it
   * costs some 60 us (16 threads: 1 ms), and one thread takes 0.3 to 0.6 ms for so much in small
   * fronts (benchmarks/history/2026-11-30-small-tasks-two-cores.txt).
   */
  static final double THREAD_WORK = 1e6;

  private final SubtreeState state;
  private final DenseKernels kernels;
  private final TreeUnits units;
  private final UnitBooking booking;
  private final PriorityQueue<Integer> ready = new PriorityQueue<>();

  /** By unit: the group at its end, if it was refused. */
  private final Map<Integer, RefusedGroup> refused = new ConcurrentHashMap<>();

  private final RefusedParts parts;

  /** By unit: unfinished children in other units. */
  private final int[] pending;

  private int unitsLeft;

  private TreeRun(SubtreeState state, DenseKernels kernels, int threads) {
    this.state = state;
    this.kernels = kernels;
    this.units = cut(state, threads == 1 ? 1 : SHARES_PER_THREAD * threads);
    this.pending = units.childrenOutside();
    this.unitsLeft = units.count();
    this.parts = new RefusedParts(units.count());
    this.booking = new UnitBooking(state, units, UnitBooking.slack(threads));
    admit();
  }

  /** Returns when every front is done; rethrows the error of the first failing thread. */
  static void run(SubtreeState state, DenseKernels kernels, int threads) {
    UnitThreads.run(new TreeRun(state, kernels, threads), threads, "sparqr-cpu");
  }

  /**
   * The threads of at most so many that a task has enough work for.
   *
   * @param threadWork what pays for one of them, in flops
   */
  static int payingThreads(SubtreeState state, int threads, double threadWork) {
    double work = 0;
    for (int i = 0; i < state.frontCount(); i++) {
      work += work(state, i);
    }
    return work >= threads * threadWork ? threads : Math.max(1, (int) (work / threadWork));
  }

  /** Cuts the fronts of a task, with the subtrees in about this many units. */
  static TreeUnits cut(SubtreeState state, int shares) {
    double[] work = new double[state.frontCount()];
    int[] parent = new int[work.length];
    for (int i = 0; i < work.length; i++) {
      work[i] = work(state, i);
      parent[i] = state.parentIndex(i);
    }
    return TreeUnits.cut(work, parent, shares);
  }

  private static double work(SubtreeState state, int index) {
    return state.groups().cost(index) + FRONT_OVERHEAD;
  }

  /** Admits as many units as memory allows, in postorder. */
  private boolean admit() {
    boolean more = false;
    for (int u = booking.admit(); u >= 0; u = booking.admit()) {
      if (pending[u] == 0) {
        ready.add(u);
        more = true;
      }
    }
    return more;
  }

  @Override
  public boolean isDone() {
    return unitsLeft == 0;
  }

  @Override
  public int next() {
    // Parts come first: their group is first in postorder.
    int part = parts.next();
    return part >= 0 || ready.isEmpty() ? part : ready.poll();
  }

  @Override
  public FrontWorker workspace() {
    return new FrontWorker(state, kernels);
  }

  @Override
  public void run(int unit, FrontWorker fronts, Crew crew) {
    if (parts.has(unit)) {
      parts.run(unit, fronts, crew);
      return;
    }
    int end = units.start(unit + 1);
    for (int i = units.start(unit); i < end; i++) {
      state.requireGoingOn(i);
      RefusedGroup group = fronts.process(i, crew);
      if (group != null && i == end - 1) {
        refused.put(unit, group);
      } else if (group != null) {
        fronts.byReflectors(group, crew);
      }
    }
  }

  @Override
  public boolean finished(int unit) {
    if (parts.has(unit)) {
      int group = parts.finished(unit);
      boolean more = group >= 0 && done(group);
      return more || parts.isWaiting();
    }
    RefusedGroup group = refused.remove(unit);
    if (group != null) {
      parts.open(unit, group, booking.peak(unit));
      return true;
    }
    return done(unit);
  }

  private boolean done(int unit) {
    boolean more = false;
    unitsLeft--;
    for (int i = units.start(unit); i < units.start(unit + 1); i++) {
      int parent = state.parentIndex(i);
      if (parent >= 0 && units.unitOf(parent) != unit) {
        int above = units.unitOf(parent);
        if (--pending[above] == 0 && booking.isAdmitted(above)) {
          ready.add(above);
          more = true;
        }
      }
    }
    booking.finished(unit);
    return admit() || more;
  }
}
