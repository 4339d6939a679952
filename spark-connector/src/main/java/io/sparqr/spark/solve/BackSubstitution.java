/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.solve;

import io.sparqr.numeric.BitChecksum;
import io.sparqr.numeric.Probe;
import io.sparqr.spark.stored.FactorSegment;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.threads.Crew;
import java.util.Arrays;
import java.util.List;

/**
 * R x = c down one task's tree, in place. On each front, rows are processed in blocks from the last
 * one: first the products with the columns to the right of a block are summed, rows in parallel,
 * and then the block's own triangle is solved.
 */
final class BackSubstitution extends FrontVectors {

  /** Rows that one thread sums at a time. */
  private static final int PIECE = 8;

  private final boolean stored;

  private final ThreadLocal<Buffer> helper = ThreadLocal.withInitial(Buffer::new);

  /**
   * Starts at the roots.
   *
   * @param x at the task's places, width values each: in: x outside the task and, unless {@code
   *     stored}, c at its pivots; out: x
   * @param stored whether c is the Q'b stored with R, followed by the {@link Probe}
   */
  BackSubstitution(
      SymbolicAnalysis analysis,
      TaskFactor r,
      double[] x,
      Places places,
      int width,
      boolean stored) {
    super(analysis, r, x, places, width, true);
    this.stored = stored;
  }

  @Override
  void front(int i, Buffer buffer, Crew crew) {
    int f = r.front(i);
    int fn = analysis.fn(f);
    List<FactorSegment> rows = r.rows(i);
    if (rows.isEmpty()) {
      return;
    }
    double[] v = buffer.vector((fn + 1) * width);
    for (int k = 0; k < fn; k++) {
      System.arraycopy(x, at(analysis.column(f, k)), v, k * width, width);
    }
    double[] row = buffer.row(fn);
    int first = analysis.firstPivot(f);
    boolean wide = !stored && isWide(i, fn);
    for (int s = rows.size() - 1; s >= 0; s--) {
      FactorSegment segment = rows.get(s);
      long read = wide ? WideFront.back(segment, width, fn, v, crew) : 0;
      for (int to = wide ? 0 : segment.rows(); to > 0; to -= BLOCK) {
        read += block(segment, Math.max(0, to - BLOCK), to, first, fn, v, row, crew);
      }
      if (segment.unchecked()) {
        segment.requireSum(read);
      }
    }
    System.arraycopy(v, 0, x, at(first), analysis.fp(f) * width);
  }

  /** The stored right-hand sides of rows [from, to), and the probe. */
  private void begin(FactorSegment segment, int from, int to, int first, double[] sum) {
    int rhs = width - Probe.COUNT;
    for (int i = from; i < to; i++) {
      int at = (i - from) * width;
      for (int k = 0; k < rhs; k++) {
        sum[at + k] = segment.rhs(i, k);
      }
      sum[at + rhs] = Probe.value(first + segment.livePivot(i));
    }
  }

  /**
   * Solves with a block of rows; returns the sum of their mixed bits if they are unchecked.
   *
   * @param first the front's first pivot
   */
  private long block(
      FactorSegment segment,
      int from,
      int to,
      int first,
      int fn,
      double[] v,
      double[] row,
      Crew crew) {
    int end = segment.livePivot(to - 1) + 1;
    double[] sum = new double[(to - from) * width];
    if (stored) {
      begin(segment, from, to, first, sum);
    } else {
      for (int i = from; i < to; i++) {
        System.arraycopy(v, segment.livePivot(i) * width, sum, (i - from) * width, width);
      }
    }
    long read = 0;
    if (fn > end) {
      int pieces = (to - from + PIECE - 1) / PIECE;
      if ((long) (to - from) * (fn - end) * width < SHARED_ENTRIES) {
        read = right(segment, from, from, to, end, fn, v, row, sum);
      } else {
        long[] bits = new long[pieces];
        crew.run(
            pieces,
            p -> {
              int start = from + p * PIECE;
              double[] own = helper.get().row(fn);
              int last = Math.min(start + PIECE, to);
              bits[p] = right(segment, from, start, last, end, fn, v, own, sum);
            });
        read = Arrays.stream(bits).sum();
      }
    }
    for (int i = to - 1; i >= from; i--) {
      int pivot = segment.livePivot(i);
      segment.row(i, pivot, end, row);
      read += segment.unchecked() ? BitChecksum.sum(row, 0, end - pivot) : 0;
      int at = (i - from) * width;
      subtract(row, 1, end - pivot, v, (pivot + 1) * width, sum, at);
      for (int k = 0; k < width; k++) {
        v[pivot * width + k] = sum[at + k] / row[0];
      }
    }
    return read;
  }

  /**
   * Subtracts the products with columns [end, fn) of rows [first, to) from the block's sums, which
   * start at row {@code begin}; returns the sum of their mixed bits if they are unchecked.
   */
  private long right(
      FactorSegment segment,
      int begin,
      int first,
      int to,
      int end,
      int fn,
      double[] v,
      double[] row,
      double[] sum) {
    long read = 0;
    int length = fn - end;
    for (int i = first; i < to; i++) {
      segment.row(i, end, fn, row);
      read += segment.unchecked() ? BitChecksum.sum(row, 0, length) : 0;
      subtract(row, 0, length, v, end * width, sum, (i - begin) * width);
    }
    return read;
  }

  /** sum[at + k] -= row[from .. to) times vector k of v, which starts at {@code start}. */
  private void subtract(
      double[] row, int from, int to, double[] v, int start, double[] sum, int at) {
    if (width == 1) {
      sum[at] -= dot(row, from, to, v, start);
      return;
    }
    if (stored && width == 2) {
      subtractTwo(row, from, to, v, start, sum, at);
      return;
    }
    for (int j = from; j < to; j++) {
      int c = start + (j - from) * width;
      for (int k = 0; k < width; k++) {
        sum[at + k] -= row[j] * v[c + k];
      }
    }
  }

  /** Both sums are those of {@link #dot}, bit for bit: x does not depend on the probe beside it. */
  private static void subtractTwo(
      double[] row, int from, int to, double[] v, int start, double[] sum, int at) {
    double a0 = 0;
    double a1 = 0;
    double a2 = 0;
    double a3 = 0;
    double b0 = 0;
    double b1 = 0;
    double b2 = 0;
    double b3 = 0;
    int j = from;
    int c = start;
    for (; j + 3 < to; j += 4, c += 8) {
      a0 = Math.fma(row[j], v[c], a0);
      b0 = Math.fma(row[j], v[c + 1], b0);
      a1 = Math.fma(row[j + 1], v[c + 2], a1);
      b1 = Math.fma(row[j + 1], v[c + 3], b1);
      a2 = Math.fma(row[j + 2], v[c + 4], a2);
      b2 = Math.fma(row[j + 2], v[c + 5], b2);
      a3 = Math.fma(row[j + 3], v[c + 6], a3);
      b3 = Math.fma(row[j + 3], v[c + 7], b3);
    }
    for (; j < to; j++, c += 2) {
      a0 = Math.fma(row[j], v[c], a0);
      b0 = Math.fma(row[j], v[c + 1], b0);
    }
    sum[at] -= (a0 + a1) + (a2 + a3);
    sum[at + 1] -= (b0 + b1) + (b2 + b3);
  }

  private static double dot(double[] row, int from, int to, double[] v, int start) {
    double s0 = 0;
    double s1 = 0;
    double s2 = 0;
    double s3 = 0;
    int j = from;
    int c = start;
    for (; j + 3 < to; j += 4, c += 4) {
      s0 = Math.fma(row[j], v[c], s0);
      s1 = Math.fma(row[j + 1], v[c + 1], s1);
      s2 = Math.fma(row[j + 2], v[c + 2], s2);
      s3 = Math.fma(row[j + 3], v[c + 3], s3);
    }
    for (; j < to; j++, c++) {
      s0 = Math.fma(row[j], v[c], s0);
    }
    return (s0 + s1) + (s2 + s3);
  }
}
