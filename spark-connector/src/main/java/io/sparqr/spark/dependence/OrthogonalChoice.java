/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.dependence;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Chooses the columns to drop of one component of the null space, as {@link Elimination} does, by
 * dense orthogonal transformations: Z = QT with orthonormal columns; a row of Q is that of a column
 * to drop if its distance from the span of the rows chosen before it reaches a threshold. Errors do
 * not grow along the way, so that a distance is right to eps however many rows came before. The
 * combinations are W = Q Q_D^-1, by the triangular factor of Q_D that the choice leaves behind.
 *
 * <p>The squares of all distances from k chosen rows sum to d - k. While k < d, a row among the n
 * has therefore at least the distance 1 / sqrt(n): with a threshold up to that, d columns are
 * always found. O(n d^2) flops, 2 n d values.
 */
final class OrthogonalChoice {

  private final int[] column;

  /** By vector: its values at {@link #column}, orthonormal. */
  private final double[][] q;

  /** Rows of Q in the order of dropping, as indices into {@link #column}. */
  private final int[] order;

  /**
   * @param vectors independent vectors of the null space
   * @param place position of each column in the order of dropping
   */
  OrthogonalChoice(List<SparseVector> vectors, int[] place) {
    column =
        vectors.stream().flatMapToInt(v -> Arrays.stream(v.column())).sorted().distinct().toArray();
    q = new double[vectors.size()][column.length];
    for (int k = 0; k < q.length; k++) {
      SparseVector v = vectors.get(k);
      double norm = v.norm();
      for (int i = 0; i < v.count(); i++) {
        q[k][Arrays.binarySearch(column, v.column()[i])] = v.value()[i] / norm;
      }
    }
    orthonormalize(q);
    long[] byPlace = new long[column.length];
    Arrays.setAll(byPlace, i -> (long) place[column[i]] << Integer.SIZE | i);
    Arrays.sort(byPlace);
    order = Arrays.stream(byPlace).mapToInt(key -> (int) key).toArray();
  }

  /** Gram-Schmidt, each vector twice. */
  private static void orthonormalize(double[][] q) {
    for (int k = 0; k < q.length; k++) {
      for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < k; i++) {
          subtract(dot(q[i], q[k]), q[i], q[k]);
        }
        scale(1 / Math.sqrt(dot(q[k], q[k])), q[k]);
      }
    }
  }

  /**
   * The columns to drop, and what they depend on.
   *
   * @param threshold least distance of a row of Q from those chosen before; at most 1 / sqrt(n)
   * @return one entry per vector; none if the vectors are not finite or not independent
   */
  List<Elimination.Gone> run(double threshold) {
    int d = q.length;
    int[] chosen = new int[d];
    double[][] u = new double[d][];
    double[][] lower = new double[d][];
    int count = 0;
    for (int i = 0; i < order.length && count < d; i++) {
      double[] row = row(order[i]);
      double[] along = new double[count + 1];
      for (int pass = 0; pass < 2; pass++) {
        for (int k = 0; k < count; k++) {
          double dot = dot(u[k], row);
          subtract(dot, u[k], row);
          along[k] += dot;
        }
      }
      double distance = Math.sqrt(dot(row, row));
      if (distance >= threshold) {
        scale(1 / distance, row);
        along[count] = distance;
        lower[count] = along;
        u[count] = row;
        chosen[count++] = order[i];
      }
    }
    return count < d ? List.of() : combinations(chosen, u, lower);
  }

  /** W = Q Q_D^-1 row by row, where Q_D = lower u. */
  private List<Elimination.Gone> combinations(int[] chosen, double[][] u, double[][] lower) {
    int d = q.length;
    double[] w = new double[column.length * d];
    for (int i = 0; i < column.length; i++) {
      double[] row = row(i);
      for (int k = d - 1; k >= 0; k--) {
        double sum = dot(u[k], row);
        for (int l = k + 1; l < d; l++) {
          sum -= w[i * d + l] * lower[l][k];
        }
        w[i * d + k] = sum / lower[k][k];
      }
    }
    for (int k = 0; k < d; k++) {
      Arrays.fill(w, chosen[k] * d, (chosen[k] + 1) * d, 0);
      w[chosen[k] * d + k] = 1;
    }
    var gone = new ArrayList<Elimination.Gone>();
    for (int k = 0; k < d; k++) {
      SparseVector v = SparseVector.of(w, k, d, NullSpace.NOISE);
      int[] original = Arrays.stream(v.column()).map(i -> column[i]).toArray();
      gone.add(new Elimination.Gone(column[chosen[k]], new SparseVector(original, v.value())));
    }
    return gone;
  }

  private double[] row(int i) {
    double[] row = new double[q.length];
    for (int k = 0; k < row.length; k++) {
      row[k] = q[k][i];
    }
    return row;
  }

  private static double dot(double[] a, double[] b) {
    double sum = 0;
    for (int i = 0; i < a.length; i++) {
      sum += a[i] * b[i];
    }
    return sum;
  }

  private static void subtract(double factor, double[] a, double[] from) {
    for (int i = 0; i < a.length; i++) {
      from[i] -= factor * a[i];
    }
  }

  private static void scale(double factor, double[] a) {
    for (int i = 0; i < a.length; i++) {
      a[i] *= factor;
    }
  }
}
