/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.gram;

import io.sparqr.numeric.dense.DenseKernels;
import io.sparqr.symbolic.GramWork;
import io.sparqr.threads.Crew;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * What the children of a front add to its Gram matrix: the triangles that they have left, rounded,
 * and of thin ones minus the products of their rows of R, in twice the precision. Rows with few of
 * the front's columns are subtracted entry by entry, strip by strip; others are stacked, and a
 * stack is subtracted as one product of matrices.
 */
final class GramChildren {

  /** Rows of thin children that are subtracted at a time. */
  static final int STACK = 256;

  private final DenseKernels kernels;
  private final GramShape shape;
  private final int n;
  private final int[] place;
  private final Trapezoid[] front;

  /** By front: the upper triangle of what is left, by columns. */
  private final double[] @Nullable [] left;

  /** Children that have left triangles; thin ones with short rows, and with long ones. */
  private final int[] thick;

  private final int[] sparse;
  private final int[] dense;

  /**
   * Of a front of n columns.
   *
   * @param children all, ascending
   * @param place by column of the tree: that of the front
   */
  GramChildren(
      DenseKernels kernels,
      GramShape shape,
      int n,
      int[] place,
      int[] children,
      boolean[] thin,
      Trapezoid[] front,
      double[] @Nullable [] left) {
    this.kernels = kernels;
    this.shape = shape;
    this.n = n;
    this.place = place;
    this.front = front;
    this.left = left;
    thick = Arrays.stream(children).filter(c -> !thin[c] && left[c] != null).toArray();
    sparse = Arrays.stream(children).filter(c -> thin[c] && !isDense(shape, c, n)).toArray();
    dense = Arrays.stream(children).filter(c -> thin[c] && isDense(shape, c, n)).toArray();
  }

  /** Whether the rows of a thin child of a front of n columns are stacked. */
  static boolean isDense(GramShape shape, int child, int n) {
    return (long) shape.tail(child) * GramWork.SPARSE >= n;
  }

  /** Adds triangles in the columns of a strip. */
  void add(GramStrip sum) {
    for (int c : thick) {
      double[] from = left[c];
      int[] at = places(c);
      for (int j = first(at, sum.from); from != null && j < at.length && at[j] < sum.to; j++) {
        int source = j * (j + 1) / 2;
        sum.column(at[j]);
        for (int i = 0; i <= j; i++) {
          sum.addRounded(at[i], from[source + i]);
        }
      }
    }
  }

  /** The front's columns that a child has besides its pivots. */
  private int[] places(int c) {
    int p = shape.pivots(c);
    int[] at = new int[shape.tail(c)];
    for (int j = 0; j < at.length; j++) {
      at[j] = place[shape.column(c, p + j)];
    }
    return at;
  }

  /** The index of the first place that is at least k. */
  private static int first(int[] at, int k) {
    int found = Arrays.binarySearch(at, k);
    return found >= 0 ? found : -found - 1;
  }

  /** The thin children with short rows, as pieces without values. */
  RowPieces sparse() {
    return new RowPieces() {
      @Override
      public int count() {
        return sparse.length;
      }

      @Override
      public void piece(int p, RowPiece view) {
        int c = sparse[p];
        view.size(0, shape.tail(c)).columnsAt(shape.tail(), shape.tailStart()[c]);
      }
    };
  }

  /** Subtracts the products of short rows in the columns of strip s. */
  void subtract(PiecesByStrip lists, int s, GramStrip sum) {
    for (int k = 0; k < lists.count(s); k++) {
      int c = sparse[lists.piece(s, k)];
      if (!meets(c, sum)) {
        continue;
      }
      int[] at = places(c);
      int begin = first(at, sum.from);
      int end = first(at, sum.to);
      Trapezoid r = front[c];
      for (int j = begin; j < end; j++) {
        sum.column(at[j]);
        double[] column = r.a.array(r.p + j);
        int v = r.a.at(r.p + j);
        for (int i = 0; i < r.p; i++) {
          for (int l = 0; l <= j; l++) {
            double u = r.a.get(i, r.p + l);
            double x = u * column[v + i];
            sum.add(at[l], -x, -Math.fma(u, column[v + i], -x));
          }
        }
      }
    }
  }

  /** Whether a child's columns, from its first to its last, meet those of a strip. */
  private boolean meets(int c, GramStrip sum) {
    int p = shape.pivots(c);
    int last = shape.tail(c) - 1;
    return last >= 0
        && place[shape.column(c, p)] < sum.to
        && place[shape.column(c, p + last)] >= sum.from;
  }

  /** Whether there are long rows: strips wait for their products. */
  boolean hasProducts() {
    return dense.length > 0;
  }

  /** Subtracts the products of long rows from all strips. */
  void subtractProducts(GramStrip[] strips, Crew crew) {
    double[] stack = new double[STACK * n];
    int rows = 0;
    for (int c : dense) {
      Trapezoid r = front[c];
      int tail = r.n - r.p;
      for (int i = 0; i < r.p; i++) {
        for (int j = 0; j < tail; j++) {
          stack[place[shape.column(c, r.p + j)] * STACK + rows] = r.a.get(i, r.p + j);
        }
        if (++rows == STACK) {
          subtract(stack, rows, strips, crew);
          Arrays.fill(stack, 0);
          rows = 0;
        }
      }
    }
    if (rows > 0) {
      subtract(stack, rows, strips, crew);
    }
  }

  private void subtract(double[] stack, int rows, GramStrip[] strips, Crew crew) {
    crew.run(
        strips.length,
        s -> {
          GramStrip sum = strips[s];
          int end = sum.to;
          int at = sum.from * STACK;
          double[] b = stack;
          double[] c = new double[end * (end - sum.from)];
          kernels.gemm(true, end, end - sum.from, rows, 1, b, 0, STACK, b, at, STACK, 0, c, 0, end);
          for (int j = sum.from; j < end; j++) {
            sum.column(j);
            for (int i = 0; i <= j; i++) {
              sum.add(i, -c[i + (j - sum.from) * end], 0);
            }
          }
        });
  }
}
