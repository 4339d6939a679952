/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.solve;

import io.sparqr.spark.stored.FactorSegment;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.threads.Crew;
import io.sparqr.threads.TreeUnits;
import io.sparqr.threads.UnitOrder;
import io.sparqr.threads.UnitThreads;
import java.util.List;
import java.util.concurrent.CancellationException;

/**
 * The common part of the two substitutions: a task's tree, and x on one front as a dense vector.
 */
abstract class FrontVectors implements UnitThreads.Units<FrontVectors.Buffer> {

  /** Rows of a front per block; the work on other columns can be shared by threads. */
  static final int BLOCK = 64;

  /** With fewer entries of R, sharing does not pay. */
  static final int SHARED_ENTRIES = 1 << 16;

  /** Overhead of a front, in entries. */
  private static final double FRONT_OVERHEAD = 200;

  /** Flops counted per entry for the cut into units, because the work is memory-bound. */
  private static final double ENTRY = 40;

  final SymbolicAnalysis analysis;
  final TaskFactor r;
  final double[] x;
  private final Places places;
  final int width;
  private final TreeUnits units;
  private final UnitOrder order;
  private final boolean down;

  /** A thread's own arrays, which grow as needed. */
  static final class Buffer {
    double[] vector = new double[0];
    double[] row = new double[0];

    double[] vector(int length) {
      vector = vector.length < length ? new double[length] : vector;
      return vector;
    }

    double[] row(int length) {
      row = row.length < length ? new double[length] : row;
      return row;
    }
  }

  FrontVectors(
      SymbolicAnalysis analysis, TaskFactor r, double[] x, Places places, int width, boolean down) {
    this.analysis = analysis;
    this.r = r;
    this.x = x;
    this.places = places;
    this.width = width;
    this.down = down;
    double[] work = new double[r.count()];
    for (int i = 0; i < work.length; i++) {
      double rank = 0;
      for (FactorSegment s : has(i) ? r.rows(i) : List.<FactorSegment>of()) {
        rank += s.rows();
      }
      work[i] = ENTRY * width * (FRONT_OVERHEAD + rank * analysis.fn(r.front(i)));
    }
    this.units = r.cut(work);
    this.order = down ? UnitOrder.down(units) : UnitOrder.up(units);
  }

  /** Whether front i of the task takes part. */
  final boolean has(int i) {
    return places.has(r.front(i));
  }

  /** Processes front i of the task. */
  abstract void front(int i, Buffer buffer, Crew crew);

  final int at(int position) {
    return places.of(position) * width;
  }

  @Override
  public final boolean isDone() {
    return order.isDone();
  }

  @Override
  public final int next() {
    return order.next();
  }

  @Override
  public final boolean finished(int unit) {
    return order.finished(unit);
  }

  @Override
  public final Buffer workspace() {
    return new Buffer();
  }

  @Override
  public final void run(int unit, Buffer buffer, Crew crew) {
    int from = units.start(unit);
    int to = units.start(unit + 1);
    for (int k = from; k < to; k++) {
      if (Thread.currentThread().isInterrupted()) {
        throw new CancellationException("interrupted within a triangular solve");
      }
      int i = down ? from + to - 1 - k : k;
      if (has(i)) {
        front(i, buffer, crew);
      }
    }
  }

  static Crew helpers(long entries, Crew crew) {
    return entries < SHARED_ENTRIES ? Crew.ALONE : crew;
  }

  /** Whether front i, of so many columns, is solved with by BLAS. */
  final boolean isWide(int i, int fn) {
    long rank = 0;
    for (FactorSegment s : r.rows(i)) {
      rank += s.rows();
    }
    return WideFront.pays(width, rank, fn);
  }
}
