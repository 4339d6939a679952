/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.dense;

import io.sparqr.jvm.JvmPart;
import io.sparqr.threads.Crew;
import java.util.function.DoubleConsumer;
import java.util.function.IntConsumer;

/**
 * Householder QR of an upper triangle R with rows B stacked under it, in place: column k of B has
 * entries only in rows [0, stair[k]). Reflector k acts on row k of R and on those rows alone, so
 * that the triangle's zeros cost nothing (LAPACK's tpqrt has this structure; the flat tree of TSQR:
 * Demmel, Grigori, Hoemmen, Langou 2012, section 4). The further columns are updated too; their
 * part in B is the residual. No rank detection.
 *
 * <p>Flops: 4 (columns + further - k) stair[k] per column, and a tenth more for T. Panels with one
 * panel of lookahead; pieces depend on the sizes alone, so the bits do not depend on the number of
 * threads.
 */
final class StackedQr {

  /** A step of fewer flops is not worth waking other threads. */
  private static final double SHARED_STEP = 2e6;

  private static final JvmPart<ThreadLocal<double[][]>> PRODUCT =
      JvmPart.of("products of panels", () -> ThreadLocal.withInitial(() -> new double[2][0]));

  private static final double[] NONE = {};

  private final PanelCuts cuts = new PanelCuts();
  private StackedPanel current;
  private StackedPanel next;

  // The matrix being factored, shared with the panels.
  double[] r = NONE;
  int ldr;
  double[] b = NONE;
  int ldb;
  int[] stair = {};

  private DoubleConsumer heard = part -> {};

  /** Receives each finished panel, in order. */
  interface PanelSink {
    void take(StackedPanel panel);
  }

  StackedQr(DenseKernels kernels) {
    current = new StackedPanel(kernels);
    next = new StackedPanel(kernels);
  }

  /** Sets the listener to the fraction of a factorization done, in (0, 1], after each panel. */
  void heardBy(DoubleConsumer listener) {
    heard = listener;
  }

  /**
   * Factors in place.
   *
   * @param triangle column-major, columns x (columns + further), zero below the diagonal, with one
   *     spare array column
   * @param rows column-major, zero below the staircase, with one spare array column
   * @param staircase size columns, ascending
   * @param sink receives each panel before the next but one is begun
   * @return flops
   */
  double factor(
      double[] triangle,
      int ldTriangle,
      double[] rows,
      int ldRows,
      int columns,
      int further,
      int[] staircase,
      PanelSink sink,
      Crew crew) {
    r = triangle;
    ldr = ldTriangle;
    b = rows;
    ldb = ldRows;
    stair = staircase;
    int first = 0;
    while (first < columns && stair[first] == 0) {
      first++;
    }
    double flops = first == columns ? 0 : blocked(first, columns, columns + further, sink, crew);
    r = NONE;
    b = NONE;
    return flops;
  }

  private double blocked(int first, int columns, int end, PanelSink sink, Crew crew) {
    int width = PanelCuts.width(columns - first);
    cuts.cut(first, columns, width, stair, 0);
    int blockWidth = Math.max(2 * width, 128);
    double expected = expected(first, columns, end);
    double flops = 0;
    current.factor(this, first, cuts.end[0]);
    for (int p = 0; p < cuts.count; p++) {
      int from = cuts.end[p];
      int to = p + 1 < cuts.count ? cuts.end[p + 1] : columns;
      int rest = to == columns && end - to < blockWidth / 4 ? end : to;
      int blocks = (end - rest + blockWidth - 1) / blockWidth;
      StackedPanel done = current;
      StackedPanel coming = next;
      // Piece 0: the next panel's columns, and that panel; then the others.
      IntConsumer piece =
          i -> {
            if (i > 0) {
              int c = rest + (i - 1) * blockWidth;
              update(done, c, Math.min(c + blockWidth, end));
              return;
            }
            update(done, from, rest);
            if (to > from) {
              coming.factor(this, from, to);
            }
          };
      double work = 4.0 * done.rows * done.width * (end - from);
      (work < SHARED_STEP ? Crew.ALONE : crew).run(1 + blocks, piece);
      flops += work + 4.0 * done.rows * done.width * done.width;
      sink.take(done);
      heard.accept(Math.min(1, flops / expected));
      current = coming;
      next = done;
    }
    return flops;
  }

  private double expected(int first, int columns, int end) {
    double sum = 1;
    for (int k = first; k < columns; k++) {
      sum += 4.0 * stair[k] * (end - k);
    }
    return sum;
  }

  private static void update(StackedPanel panel, int from, int to) {
    double[][] slot = PRODUCT.get().get();
    int size = panel.width * (to - from + 1);
    for (int i = 0; i < slot.length; i++) {
      if (slot[i].length < size) {
        slot[i] = new double[size];
      }
    }
    panel.update(from, to, slot[0], slot[1]);
  }
}
