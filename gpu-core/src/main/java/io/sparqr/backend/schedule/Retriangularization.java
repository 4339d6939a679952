/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

import io.sparqr.numeric.ContributionBlock;
import io.sparqr.numeric.FrontFactor;
import io.sparqr.numeric.FrontReflectors;
import io.sparqr.numeric.dense.ReflectorBlock;
import io.sparqr.numeric.dense.ReflectorList;
import io.sparqr.numeric.dense.Reflectors;
import java.nio.DoubleBuffer;
import java.util.ArrayList;
import java.util.Arrays;

/**
 * Heath's method on a front that is upper trapezoidal already: A_f = Q R holds whatever its pivots,
 * so dropping dead columns from R, row by row, gives what dropping them from A_f gives. With d dead
 * columns so far, R below the pivot row has d subdiagonals: a reflector has d + 1 rows.
 *
 * <p>Cost: O(d fn^2) flops for d dead columns, and k x (fn + rhs) doubles.
 */
final class Retriangularization {

  private final int front;
  private final int fp;
  private final int fn;
  private final int rhs;
  private final int rows;
  private final double tolerance;
  private final double[][] a;
  private final int[] live;
  private int rank;
  private int cm;
  private double droppedSquares;
  private final double[] residual;

  /** Reflectors in the order of their making; null unless Q is kept. */
  private final ReflectorList steps;

  /**
   * Takes rows [0, k) of a front's trapezoid, k = min(fm, fn): row i with its fn - i values, one
   * after the other, then k x rhs right-hand sides.
   */
  Retriangularization(
      int front, FrontDescriptor d, double tolerance, DoubleBuffer packed, boolean keepQ) {
    this.front = front;
    this.tolerance = tolerance;
    steps = keepQ ? new ReflectorList() : null;
    fp = d.fp();
    fn = d.fn();
    rhs = d.rhs();
    rows = Math.min(d.fm(), fn);
    a = new double[rows][fn + rhs];
    for (int i = 0; i < rows; i++) {
      packed.get(a[i], i, fn - i);
    }
    for (int i = 0; i < rows; i++) {
      packed.get(a[i], fn, rhs);
    }
    live = new int[fp];
    residual = new double[rhs];
  }

  /** Does it; call once. */
  void run() {
    for (int j = 0; j < fp; j++) {
      double norm = norm(rank, j);
      if (norm > tolerance) {
        eliminate(rank, j);
        live[rank++] = j;
      } else {
        droppedSquares += norm * norm;
        for (int i = rank; i < end(j); i++) {
          a[i][j] = 0;
        }
      }
    }
    cm = Math.min(rows - rank, fn - fp);
    for (int i = 0; i < cm; i++) {
      eliminate(rank + i, fp + i);
    }
    for (int i = rank + cm; i < rows; i++) {
      for (int q = 0; q < rhs; q++) {
        residual[q] += a[i][fn + q] * a[i][fn + q];
      }
    }
  }

  /** Rows from here on are zero in column j. */
  private int end(int j) {
    return Math.min(j + 1, rows);
  }

  /** 2-norm of column j from row r on, safe from overflow; NaN if there is one. */
  private double norm(int r, int j) {
    double norm = 0;
    for (int i = r; i < end(j); i++) {
      norm = Math.hypot(norm, a[i][j]);
    }
    return norm;
  }

  /** A reflector of rows [r, end(j)) that leaves column j zero below row r. */
  private void eliminate(int r, int j) {
    int end = end(j);
    if (r + 1 >= end) {
      return;
    }
    double[] column = new double[end - r];
    for (int i = r; i < end; i++) {
      column[i - r] = a[i][j];
    }
    double tau = Reflectors.make(column, 0, end - r, Reflectors.norm(column, 0, end - r));
    if (tau == 0) {
      return;
    }
    if (steps != null) {
      steps.add(r, end - r, tau);
    }
    double[] sum = Arrays.copyOfRange(a[r], j + 1, fn + rhs);
    for (int i = r + 1; i < end; i++) {
      double v = column[i - r];
      if (steps != null) {
        steps.value(v);
      }
      for (int c = j + 1; c < fn + rhs; c++) {
        sum[c - j - 1] += v * a[i][c];
      }
    }
    for (int c = j + 1; c < fn + rhs; c++) {
      sum[c - j - 1] *= tau;
      a[r][c] -= sum[c - j - 1];
    }
    for (int i = r + 1; i < end; i++) {
      double v = column[i - r];
      a[i][j] = 0;
      for (int c = j + 1; c < fn + rhs; c++) {
        a[i][c] -= v * sum[c - j - 1];
      }
    }
    a[r][j] = column[0];
  }

  /** The rows of R of the live columns. */
  FrontFactor factor() {
    int length = 0;
    for (int i = 0; i < rank; i++) {
      length += fn - live[i];
    }
    double[] values = new double[length];
    double[] right = new double[rank * rhs];
    int to = 0;
    for (int i = 0; i < rank; i++) {
      double sign = a[i][live[i]] < 0 ? -1 : 1;
      for (int c = live[i]; c < fn; c++) {
        values[to++] = sign * a[i][c];
      }
      for (int q = 0; q < rhs; q++) {
        right[i * rhs + q] = sign * a[i][fn + q];
      }
    }
    return new FrontFactor(front, fn, Arrays.copyOf(live, rank), values, right, rhs);
  }

  /** Q of the front: that which made its trapezoid, then what was done here. */
  FrontReflectors reflectors(FrontReflectors q) {
    var blocks = new ArrayList<ReflectorBlock>(q.blocks());
    // rows came down with a positive diagonal: I - 2 e e' negates a row
    var flips = new ReflectorList();
    for (int i = 0; i < q.rank(); i++) {
      if (q.negative()[i]) {
        flips.add(i, 1, 2);
      }
    }
    blocks.add(flips.block(ReflectorBlock.run(0, rows)));
    blocks.add(steps.block(ReflectorBlock.run(0, rows)));
    boolean[] negative = new boolean[rank];
    for (int i = 0; i < rank; i++) {
      negative[i] = a[i][live[i]] < 0;
    }
    int[] result = new int[rank + cm];
    Arrays.setAll(result, i -> i);
    return new FrontReflectors(
        front,
        q.rows(),
        q.own(),
        q.child(),
        q.childStart(),
        q.childRow(),
        Arrays.copyOf(live, rank),
        negative,
        result,
        blocks);
  }

  /** The rows that go to the parent; null if there are none. */
  ContributionBlock block() {
    if (cm == 0) {
      return null;
    }
    int cn = fn - fp;
    double[] values = new double[(int) ContributionBlock.packedLength(cm, cn)];
    double[] right = new double[cm * rhs];
    int to = 0;
    for (int i = 0; i < cm; i++) {
      System.arraycopy(a[rank + i], fp + i, values, to, cn - i);
      to += cn - i;
      System.arraycopy(a[rank + i], fn, right, i * rhs, rhs);
    }
    return new ContributionBlock(front, cm, cn, values, right, rhs);
  }

  /** Sums of squares of the right-hand sides of rows that neither R nor the block took. */
  double[] residual() {
    return residual;
  }

  /** Sum of squares of what was dropped. */
  double droppedSquares() {
    return droppedSquares;
  }
}
