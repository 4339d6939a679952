/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.solve;

import io.sparqr.spark.stored.FactorSegment;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.threads.Crew;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * R'y = c up one task's tree, in place. The update from a front's rows to the columns of its tail
 * is passed to the parent as a vector, as with contribution blocks, so that no two fronts write to
 * the same place.
 */
final class ForwardSubstitution extends FrontVectors {

  /** Columns that one thread updates at a time. */
  private static final int STRIP = 1024;

  /** By front of the task: the update to c on its tail; null for zero. */
  private final double[][] update;

  /** By front: the fronts with it as their lowest ancestor in the task, ascending. */
  private final List<List<Integer>> below;

  private final ThreadLocal<Buffer> helper = ThreadLocal.withInitial(Buffer::new);

  /**
   * Starts at the leaves.
   *
   * @param x at the task's places, width values each: in: c at the task's pivots, 0 elsewhere; out:
   *     y at live pivots, the remainder of c at dead ones and, after {@link #addOutside}, the
   *     update to c outside the task
   */
  ForwardSubstitution(
      SymbolicAnalysis analysis, TaskFactor r, double[] x, Places places, int width) {
    super(analysis, r, x, places, width, false);
    this.update = new double[r.count()][];
    this.below = new ArrayList<>();
    for (int i = 0; i < r.count(); i++) {
      below.add(List.of());
    }
    for (int i = 0; i < r.count(); i++) {
      int above = has(i) ? r.above(i) : -1;
      if (above >= 0) {
        if (below.get(above).isEmpty()) {
          below.set(above, new ArrayList<>());
        }
        below.get(above).add(i);
      }
    }
  }

  @Override
  void front(int i, Buffer buffer, Crew crew) {
    int f = r.front(i);
    int fn = analysis.fn(f);
    int fp = analysis.fp(f);
    double[] v = buffer.vector((fn + 1) * width);
    System.arraycopy(x, at(analysis.firstPivot(f)), v, 0, fp * width);
    Arrays.fill(v, fp * width, fn * width, 0);
    for (int child : below.get(i)) {
      assemble(child, f, v);
    }
    if (isZero(v, 0, fn * width)) {
      return;
    }
    double[] row = buffer.row(fn);
    boolean wide = isWide(i, fn);
    for (FactorSegment segment : r.rows(i)) {
      if (wide) {
        WideFront.forward(segment, width, fn, v, crew);
        continue;
      }
      for (int from = 0; from < segment.rows(); from += BLOCK) {
        block(segment, from, Math.min(from + BLOCK, segment.rows()), fn, v, row, crew);
      }
    }
    System.arraycopy(v, 0, x, at(analysis.firstPivot(f)), fp * width);
    if (!isZero(v, fp * width, fn * width)) {
      update[i] = Arrays.copyOfRange(v, fp * width, fn * width);
    }
  }

  /** Adds a lower front's update for the columns of front f; the rest stays. */
  private void assemble(int child, int f, double[] v) {
    double[] u = update[child];
    if (u == null) {
      return;
    }
    int c = r.front(child);
    int first = analysis.firstPivot(f);
    int k = 0;
    for (int j = 0; j < analysis.cn(c); j++) {
      int position = analysis.column(c, analysis.fp(c) + j);
      if (position < first) {
        continue;
      }
      k = FrontColumns.find(analysis, f, position, k);
      for (int q = 0; q < width; q++) {
        v[k * width + q] += u[j * width + q];
        u[j * width + q] = 0;
      }
    }
    if (!r.isOutput(child)) {
      update[child] = null;
    }
  }

  private void block(
      FactorSegment segment, int from, int to, int fn, double[] v, double[] row, Crew crew) {
    int end = segment.livePivot(to - 1) + 1;
    double[] y = new double[(to - from) * width];
    boolean any = false;
    for (int i = from; i < to; i++) {
      int pivot = segment.livePivot(i);
      int at = pivot * width;
      if (isZero(v, at, at + width)) {
        continue;
      }
      any = true;
      segment.row(i, pivot, end, row);
      for (int k = 0; k < width; k++) {
        v[at + k] /= row[0];
        y[(i - from) * width + k] = v[at + k];
      }
      subtract(row, 1, end - pivot, y, (i - from) * width, v, (pivot + 1) * width);
    }
    if (!any || fn == end) {
      return;
    }
    int strips = (fn - end + STRIP - 1) / STRIP;
    helpers((long) (to - from) * (fn - end) * width, crew)
        .run(
            strips,
            p -> {
              int first = end + p * STRIP;
              int last = Math.min(first + STRIP, fn);
              double[] own = helper.get().row(last - first);
              for (int i = from; i < to; i++) {
                int yAt = (i - from) * width;
                if (!isZero(y, yAt, yAt + width)) {
                  segment.row(i, first, last, own);
                  subtract(own, 0, last - first, y, yAt, v, first * width);
                }
              }
            });
  }

  /** v, from {@code start} on, minus row[from .. to) times y. */
  private void subtract(
      double[] row, int from, int to, double[] y, int yAt, double[] v, int start) {
    if (width == 1) {
      double s = y[yAt];
      int shift = start - from;
      for (int j = from; j < to; j++) {
        v[shift + j] -= row[j] * s;
      }
      return;
    }
    for (int j = from; j < to; j++) {
      int c = start + (j - from) * width;
      for (int k = 0; k < width; k++) {
        v[c + k] -= row[j] * y[yAt + k];
      }
    }
  }

  private static boolean isZero(double[] v, int from, int to) {
    for (int k = from; k < to; k++) {
      if (v[k] != 0) {
        return false;
      }
    }
    return true;
  }

  /** After all fronts: adds their updates for columns outside the task, in order. */
  void addOutside() {
    for (int i = 0; i < r.count(); i++) {
      if (update[i] == null) {
        continue;
      }
      int f = r.front(i);
      for (int j = 0; j < analysis.cn(f); j++) {
        int to = at(analysis.column(f, analysis.fp(f) + j));
        for (int q = 0; q < width; q++) {
          x[to + q] += update[i][j * width + q];
        }
      }
    }
  }
}
