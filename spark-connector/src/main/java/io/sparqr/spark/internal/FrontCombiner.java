/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.internal;

import io.sparqr.spark.plan.SolvePlan;
import java.util.Arrays;
import java.util.TreeMap;

/**
 * The map-side combine: rows of one partition that go to the same front are replaced by the R of
 * their QR factorization (TSQR; Demmel, Grigori, Hoemmen, Langou 2012, doi:10.1137/080731992) as
 * soon as that is at most half as large, so that what a partition sends for a front is bounded by
 * the front's size and not by its number of rows. Fronts that can never have so many rows are left
 * alone by the caller.
 */
final class FrontCombiner {

  /** Entries held for all fronts together before everything is sent. */
  private static final long BUDGET = 8 << 20;

  /** Doubles in a dense slab. */
  private static final int SLAB = 4 << 20;

  private final SolvePlan plan;
  private final int rhsCount;
  private final Sink sink;
  private final double[] residual;
  private final TreeMap<Integer, Pending> open = new TreeMap<>();
  private long entries;

  /** Where rows go. */
  interface Sink {
    void add(int front, int[] position, double[] value, int from, int count, double[] b, int bFrom);
  }

  /** A combiner of a partition. */
  FrontCombiner(SolvePlan plan, Sink sink) {
    this.plan = plan;
    this.rhsCount = plan.numbers().rhsCount();
    this.sink = sink;
    this.residual = new double[rhsCount];
  }

  /** Whether rows of a front are worth collecting at all. */
  static boolean worthwhile(SolvePlan plan, int front) {
    return plan.frontRows(front) > 2L * plan.analysis().fn(front);
  }

  /** Takes a row: count entries, positions ascending. */
  void add(int front, int[] position, double[] value, int count, double[] b) {
    Pending p = open.get(front);
    if (p == null) {
      p = new Pending(plan.analysis().fn(front));
      open.put(front, p);
    }
    p.add(position, value, count, b);
    entries += count;
    if (p.rows >= 2L * p.fn && p.entries >= 4 * p.triangle()) {
      entries -= p.entries;
      combine(front, p);
      entries += p.entries;
    }
    if (entries > BUDGET) {
      flush();
    }
  }

  /** Sends all, reduced where that is worth it. */
  void flush() {
    open.forEach(
        (front, p) -> {
          if (p.rows > p.fn && p.entries >= 2 * p.triangle()) {
            combine(front, p);
          }
          for (int i = 0; i < p.rows; i++) {
            sink.add(
                front,
                p.position,
                p.value,
                p.start[i],
                p.start[i + 1] - p.start[i],
                p.rhs,
                i * rhsCount);
          }
        });
    open.clear();
    entries = 0;
  }

  /** 2-norms of what the reductions put below R: parts of the residual. */
  double[] residual() {
    return residual;
  }

  private void combine(int front, Pending p) {
    int width = p.fn + rhsCount;
    int slab = Math.max(2 * p.fn, SLAB / width);
    var reducer = new SlabReducer(p.fn, rhsCount, slab);
    for (int i = 0; i < p.rows; i++) {
      int row = reducer.nextRow();
      for (int k = p.start[i]; k < p.start[i + 1]; k++) {
        reducer.set(row, plan.localColumn(front, p.position[k]), p.value[k]);
      }
      for (int k = 0; k < rhsCount; k++) {
        reducer.set(row, p.fn + k, p.rhs[i * rhsCount + k]);
      }
    }
    int rank = reducer.finish();
    p.clear();
    int[] position = new int[p.fn];
    double[] value = new double[p.fn];
    double[] b = new double[rhsCount];
    for (int i = 0; i < rank; i++) {
      int count = 0;
      for (int c = i; c < p.fn; c++) {
        double v = reducer.get(i, c);
        if (v != 0) {
          position[count] = plan.analysis().column(front, c);
          value[count++] = v;
        }
      }
      for (int k = 0; k < rhsCount; k++) {
        b[k] = reducer.get(i, p.fn + k);
      }
      if (count > 0) {
        p.add(position, value, count, b);
      } else {
        toResidual(b);
      }
    }
    toResidual(reducer.tail());
  }

  private void toResidual(double[] b) {
    for (int k = 0; k < rhsCount; k++) {
      residual[k] = Math.hypot(residual[k], b[k]);
    }
  }

  /** Rows held for one front. */
  private final class Pending {
    private final int fn;
    private int rows;
    private long entries;
    private int[] start = new int[17];
    private int[] position = new int[64];
    private double[] value = new double[64];
    private double[] rhs = new double[16 * rhsCount];

    Pending(int fn) {
      this.fn = fn;
    }

    long triangle() {
      return (long) fn * (fn + 1) / 2;
    }

    void clear() {
      rows = 0;
      entries = 0;
    }

    void add(int[] from, double[] values, int count, double[] b) {
      if (rows + 1 == start.length) {
        start = Arrays.copyOf(start, 2 * start.length);
        rhs = Arrays.copyOf(rhs, start.length * rhsCount);
      }
      int end = start[rows] + count;
      if (end > position.length) {
        int size = Math.max(end, 2 * position.length);
        position = Arrays.copyOf(position, size);
        value = Arrays.copyOf(value, size);
      }
      System.arraycopy(from, 0, position, start[rows], count);
      System.arraycopy(values, 0, value, start[rows], count);
      System.arraycopy(b, 0, rhs, rows * rhsCount, rhsCount);
      start[++rows] = end;
      entries += count;
    }
  }
}
