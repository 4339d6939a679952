/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.reference;

import io.sparqr.backend.schedule.FrontDescriptor;
import io.sparqr.backend.schedule.TaskLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The effect of a front's DROP tasks on its trapezoid, r = min(fm, fn) rows where row k starts at
 * column k, and on the leftover rows passed on by its children: every live column gets its own row,
 * by Heath's method (Heath, SIAM J. Sci. Stat. Comput. 1982).
 *
 * <pre>
 *   for k = 0 .. r-1:  x = column k of row k and of all leftover rows
 *     k &lt; fp and ||x|| &lt;= tolerance:  x is dropped, row k becomes a leftover row;
 *                                    in its place: ||x|| in column k, nothing else
 *     else:  H x = +-||x|| e_1, applied to row k and the leftover rows
 * </pre>
 *
 * <p>Rows keep their places: the row with its pivot in column k stays row k, and the block's rows
 * do not move. Leftover rows have entries in columns r .. fn - 1 and right-hand sides; if r = fn
 * they have only right-hand sides, whose squares belong to the residual. If the parent may get as
 * many rows as are left over after the last pivot, it gets these ({@link
 * io.sparqr.backend.schedule.Task.Drop}). Cost: 4 (d + x) (fn^2 / 2) flops for d dead columns and x
 * rows of children, less than the front itself unless most columns are dead.
 */
final class DroppedColumns {

  private final FrontDescriptor d;
  private final double[] arena;
  private final double tolerance;
  private final int most;

  /** Leftover rows, each fn + rhs long. */
  final List<double[]> left;

  /** Whether leftover rows have ended here, with nothing but right-hand sides. */
  boolean ended;

  /**
   * Takes a finished front.
   *
   * @param most leftover rows that may go to the parent after the last pivot
   * @param given leftover rows of its children, in the front's columns
   */
  DroppedColumns(
      FrontDescriptor d, double[] arena, double tolerance, int most, List<double[]> given) {
    this.d = d;
    this.arena = arena;
    this.tolerance = tolerance;
    this.most = most;
    left = new ArrayList<>(given);
  }

  /** Drops the dead columns; returns whether no pivot was near the tolerance. */
  boolean run() {
    int width = d.fn() + d.rhs();
    int pivots = TaskLayout.TILE * TaskLayout.tiles(Math.min(d.fp(), d.trapezoidRows()));
    ended = d.fm() >= d.fn();
    for (int k = 0; k < d.trapezoidRows(); k++) {
      if (k == pivots && left.size() <= most) {
        ended = left.isEmpty();
        break;
      }
      int at = row(k);
      // Row k and the leftover rows below it, scaled by the largest entry against underflow.
      double largest = Math.abs(arena[at + k]);
      for (double[] l : left) {
        largest = Math.max(largest, Math.abs(l[k]));
      }
      double norm = 0;
      if (largest > 0) {
        double squares = Math.pow(arena[at + k] / largest, 2);
        for (double[] l : left) {
          squares += Math.pow(l[k] / largest, 2);
        }
        norm = largest * Math.sqrt(squares);
      }
      if (k < d.fp() && norm <= tolerance) {
        double[] mine = new double[width];
        System.arraycopy(arena, at + k + 1, mine, k + 1, width - k - 1);
        Arrays.fill(arena, at + k, at + width, 0);
        arena[at + k] = norm;
        clear(k);
        left.add(mine);
      } else if (!left.isEmpty() && norm > 0) {
        reflect(at, k, norm, width);
      }
    }
    return decided();
  }

  private int row(int k) {
    return (int) (d.data() + (long) k * d.ld());
  }

  private void reflect(int at, int k, double norm, int width) {
    double alpha = arena[at + k];
    double beta = alpha < 0 ? norm : -norm;
    double pivot = alpha - beta;
    double tau = -pivot / beta;
    for (int j = k + 1; j < width; j++) {
      double sum = arena[at + j];
      for (double[] l : left) {
        sum += l[k] / pivot * l[j];
      }
      arena[at + j] -= tau * sum;
      for (double[] l : left) {
        l[j] -= tau * sum * (l[k] / pivot);
      }
    }
    arena[at + k] = beta;
    clear(k);
  }

  private void clear(int k) {
    left.forEach(l -> l[k] = 0);
  }

  /**
   * Whether every live pivot is above the tolerance by a factor {@link TaskLayout#MARGIN}, every
   * dead one below it by {@link TaskLayout#DEAD_MARGIN}, and the 2-norm of the dead ones within it;
   * a NaN is none of these.
   */
  private boolean decided() {
    double dropped = 0;
    for (int k = 0; k < d.fp(); k++) {
      double pivot = Math.abs(arena[row(k) + k]);
      if (pivot <= tolerance) {
        dropped = Math.hypot(dropped, pivot);
        if (pivot > tolerance / TaskLayout.DEAD_MARGIN) {
          return false;
        }
      } else if (!(pivot > TaskLayout.MARGIN * tolerance)) {
        return false;
      }
    }
    return dropped <= tolerance;
  }
}
