/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.dense;

import io.sparqr.jvm.JvmPart;
import io.sparqr.threads.Crew;
import java.util.function.DoubleConsumer;
import java.util.function.IntConsumer;

/**
 * Householder QR of one dense matrix whose zero staircase is known: column k has entries only in
 * rows [0, stair[k]). After it, rows [0, count) hold the upper trapezoid: row i starts at column
 * rowPivot[i], ascending in i; entries to the left of it are undefined. The further columns
 * (right-hand sides) are updated too. Rows [count, m) are zero in the matrix columns (up to the
 * part dropped by rank detection), and their right-hand sides belong to the residual.
 *
 * <p>Panels in compact WY with one panel of lookahead; the partition into panels and column blocks
 * depends on the sizes alone, so the bits do not depend on the number of threads. Flops: about the
 * staircase's own count plus a tenth for T and V T.
 *
 * <p>Not thread-safe; workspaces are kept between calls.
 */
public final class StaircaseQr {

  /** Matrices up to this width are factored by single reflectors if BLAS is native. */
  private static final int SMALL_NATIVE = 40;

  /** As above, for a BLAS in Java. */
  private static final int SMALL_JAVA = 48;

  /** A step of fewer flops is not worth waking other threads. */
  private static final double SHARED_STEP = 2e6;

  private static final JvmPart<ThreadLocal<double[][]>> PRODUCT =
      JvmPart.of("products of panels", () -> ThreadLocal.withInitial(() -> new double[1][0]));

  private final DenseKernels kernels;
  private static final double[] NONE = {};

  private Panel current;
  private Panel next;

  private final PanelCuts cuts = new PanelCuts();

  // The matrix being factored, shared with the panels.
  double[] a = NONE;
  int lda;
  int[] stair = {};
  int[] rowPivot = {};
  double flops;

  /** By row of the trapezoid. */
  double[] tau = new double[0];

  /** Listener to the fraction of a factorization done. */
  private DoubleConsumer heard = part -> {};

  private int pivots;
  private double tolerance;
  private double dropped;

  /** A factorizer with empty workspaces. */
  public StaircaseQr(DenseKernels kernels) {
    this.kernels = kernels;
    this.current = new Panel(kernels);
    this.next = new Panel(kernels);
  }

  /**
   * Sets the listener to the fraction done of the next factorizations, in (0, 1]: called after each
   * panel of a blocked one, from the calling thread, and not at all for a small one.
   */
  public void heardBy(DoubleConsumer listener) {
    heard = listener;
  }

  /**
   * Factors in place.
   *
   * @param matrix column-major, columns + further columns, entries below the staircase zero; at
   *     least {@link #length} entries
   * @param ld leading dimension, at least the number of rows
   * @param columns columns to triangularize
   * @param further columns after them, only updated
   * @param tested number of leading columns whose remaining norm is compared with the tolerance; a
   *     column at or below it is dead: no reflector, no row
   * @param tol the tolerance; negative: none
   * @param staircase size columns, ascending
   * @param pivotOfRow out: size at least min(rows, columns)
   * @return rows of the trapezoid
   */
  public int factor(
      double[] matrix,
      int ld,
      int columns,
      int further,
      int tested,
      double tol,
      int[] staircase,
      int[] pivotOfRow,
      Crew crew) {
    a = matrix;
    lda = ld;
    stair = staircase;
    rowPivot = pivotOfRow;
    pivots = tested;
    tolerance = tol;
    dropped = 0;
    flops = 0;
    if (columns == 0) {
      return 0;
    }
    int size = Math.min(columns, stair[columns - 1]);
    int end = columns + further;
    if (tau.length < size) {
      tau = new double[Math.min(columns, 2 * size)];
    }
    int small = kernels.isNative() ? SMALL_NATIVE : SMALL_JAVA;
    int g =
        size <= small ? single(columns, end) : blocked(columns, end, PanelCuts.width(size), crew);
    a = NONE;
    return g;
  }

  /** Array entries for a matrix, with the spare column that netlib's range checks require. */
  public static long length(long ld, long allColumns) {
    return Math.multiplyExact(ld, allColumns + 1);
  }

  /** 2-norm of the dead part dropped by the last factorization. */
  public double droppedNorm() {
    return dropped;
  }

  /** Flops of the last factorization, including those for T. */
  public double flops() {
    return flops;
  }

  /**
   * The reflectors of the last factorization, which stored them below the trapezoid, packed;
   * without those of tau = 0, which have no effect.
   *
   * @param matrix as factored, with its leading dimension
   * @param live result of {@link #factor}, with the staircase and the pivots of that call
   * @param segments the places of the matrix's rows in the front ({@link ReflectorBlock#runs})
   */
  public ReflectorBlock reflectors(
      double[] matrix, int ld, int live, int[] staircase, int[] pivotOfRow, int[] segments) {
    int count = 0;
    long values = 0;
    for (int g = 0; g < live; g++) {
      if (tau[g] != 0) {
        count++;
        values += staircase[pivotOfRow[g]] - g - 1;
      }
    }
    int[] first = new int[count];
    int[] length = new int[count];
    double[] kept = new double[count];
    double[] v = new double[Math.toIntExact(values)];
    int r = 0;
    int to = 0;
    for (int g = 0; g < live; g++) {
      if (tau[g] != 0) {
        first[r] = g;
        length[r] = staircase[pivotOfRow[g]] - g;
        kept[r] = tau[g];
        System.arraycopy(matrix, g + 1 + pivotOfRow[g] * ld, v, to, length[r] - 1);
        to += length[r++] - 1;
      }
    }
    return new ReflectorBlock(segments, first, length, kept, v);
  }

  boolean isDead(int column, double norm) {
    if (column < pivots && norm <= tolerance) {
      dropped = Math.hypot(dropped, norm);
      return true;
    }
    return false;
  }

  private int single(int columns, int end) {
    int g = 0;
    for (int k = 0; k < columns; k++) {
      int length = stair[k] - g;
      if (length <= 0) {
        continue;
      }
      int at = g + k * lda;
      double norm = Reflectors.norm(a, at, length);
      if (isDead(k, norm)) {
        continue;
      }
      double t = Reflectors.make(a, at, length, norm);
      if (t != 0) {
        Reflectors.apply(a, lda, g, length, k, t, k + 1, end);
      }
      flops += 4.0 * length * (end - k);
      tau[g] = t;
      rowPivot[g++] = k;
    }
    return g;
  }

  private int blocked(int columns, int end, int width, Crew crew) {
    cuts.cut(0, columns, width, stair, 1);
    int panels = cuts.count;
    int[] panelEnd = cuts.end;
    int blockWidth = Math.max(2 * width, 128);
    double expected = expected(end);
    var free = new int[1];
    free[0] = current.factor(this, 0, panelEnd[0], 0);
    current.complete(end - panelEnd[0]);
    for (int p = 0; p < panels; p++) {
      int from = panelEnd[p];
      int to = p + 1 < panels ? panelEnd[p + 1] : columns;
      int rest = to == columns && end - to < blockWidth / 4 ? end : to;
      int blocks = (end - rest + blockWidth - 1) / blockWidth;
      Panel done = current;
      Panel coming = next;
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
              free[0] = coming.factor(this, from, to, free[0]);
              coming.complete(end - to);
            }
          };
      double work = 4.0 * done.rows * done.count * (end - from);
      (work < SHARED_STEP ? Crew.ALONE : crew).run(1 + blocks, piece);
      flops += work;
      heard.accept(Math.min(1, flops / expected));
      current = coming;
      next = done;
    }
    return free[0];
  }

  /** Flops of the updates of all panels, with their heights estimated from the staircase; > 0. */
  private double expected(int end) {
    double sum = 1;
    int from = 0;
    for (int p = 0; p < cuts.count; p++) {
      int to = cuts.end[p];
      sum += 4.0 * Math.max(0, stair[to - 1] - from) * (to - from) * (end - to);
      from = to;
    }
    return sum;
  }

  private void update(Panel p, int from, int to) {
    if (p.count == 0 || to <= from) {
      return;
    }
    int n = to - from;
    int r = p.count;
    double[] w = product(2 * r * n);
    int c = p.row + from * lda;
    int result = 0;
    if (p.withY) {
      kernels.gemm(true, r, n, p.rows, 1, p.y, 0, p.ldv, a, c, lda, 0, w, 0, r);
    } else {
      result = r * n;
      kernels.gemm(true, r, n, p.rows, 1, p.v, 0, p.ldv, a, c, lda, 0, w, 0, r);
      kernels.gemm(true, r, n, r, 1, p.t, 0, p.width, w, 0, r, 0, w, result, r);
    }
    kernels.gemm(false, p.rows, n, r, -1, p.v, 0, p.ldv, w, result, r, 1, a, c, lda);
  }

  private static double[] product(int length) {
    double[][] slot = PRODUCT.get().get();
    if (slot[0].length < length) {
      slot[0] = new double[length];
    }
    return slot[0];
  }
}
