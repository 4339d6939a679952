/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.pipeline;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * What the user's order drops of a network's columns, from the network's known null space, and
 * residuals in extended precision: an oracle that shares no code with the choice and looks at
 * neither A nor R.
 */
final class GaugeOracle {

  /** Rows of the null space nearer than this to the span of others are in it. */
  private static final double DEPENDENT = 1e-11;

  private GaugeOracle() {}

  /** The columns that the order drops, ascending. */
  static int[] dropped(PoseGraphs.Network g) {
    var basis = new ArrayList<double[]>();
    var dropped = new ArrayList<Integer>();
    for (int j : order(g)) {
      double[] v = g.gauge()[j].clone();
      double before = norm(v);
      for (int k = 0; k < 2 * basis.size(); k++) {
        double[] u = basis.get(k % basis.size());
        double dot = IntStream.range(0, v.length).mapToDouble(i -> u[i] * v[i]).sum();
        for (int i = 0; i < v.length; i++) {
          v[i] -= dot * u[i];
        }
      }
      double after = norm(v);
      if (after > DEPENDENT * before) {
        basis.add(Arrays.stream(v).map(w -> w / after).toArray());
        dropped.add(j);
      }
    }
    return dropped.stream().mapToInt(j -> j).sorted().toArray();
  }

  /** Columns to drop, later ones first; the others, later ones first; columns to keep. */
  private static List<Integer> order(PoseGraphs.Network g) {
    List<Integer> keep = Arrays.stream(g.keep()).boxed().collect(Collectors.toList());
    List<Integer> drop = Arrays.stream(g.drop()).boxed().sorted().collect(Collectors.toList());
    var order = new ArrayList<Integer>(drop);
    java.util.Collections.reverse(order);
    for (int j = g.columns() - 1; j >= 0; j--) {
      if (!keep.contains(j) && !drop.contains(j)) {
        order.add(j);
      }
    }
    java.util.Collections.reverse(keep);
    order.addAll(keep);
    return order;
  }

  /**
   * The largest coefficient of the combinations that these columns are, all columns of norm 1;
   * infinity if the others do not determine them. Gauss-Jordan with full pivoting.
   */
  static double growth(PoseGraphs.Network g, int[] dropped) {
    int d = dropped.length;
    int n = g.columns();
    double[][] t = new double[d][n];
    for (int k = 0; k < d; k++) {
      for (int j = 0; j < n; j++) {
        t[k][j] = g.gauge()[j][k];
      }
    }
    int[] columnOf = new int[d];
    Arrays.fill(columnOf, -1);
    boolean[] done = new boolean[n];
    for (int step = 0; step < d; step++) {
      int row = -1;
      int column = -1;
      for (int k = 0; k < d; k++) {
        for (int j : dropped) {
          boolean free = columnOf[k] < 0 && !done[j] && t[k][j] != 0;
          if (free && (row < 0 || Math.abs(t[k][j]) > Math.abs(t[row][column]))) {
            row = k;
            column = j;
          }
        }
      }
      if (row < 0) {
        return Double.POSITIVE_INFINITY;
      }
      columnOf[row] = column;
      done[column] = true;
      eliminate(t, row, column);
    }
    double[] norm = g.norms();
    double most = 0;
    for (int k = 0; k < d; k++) {
      for (int j = 0; j < n; j++) {
        double of = norm[columnOf[k]];
        most = Math.max(most, of == 0 ? 1 : Math.abs(t[k][j]) * norm[j] / of);
      }
    }
    return most;
  }

  private static void eliminate(double[][] t, int row, int column) {
    double pivot = t[row][column];
    for (int j = 0; j < t[row].length; j++) {
      t[row][j] /= pivot;
    }
    for (int k = 0; k < t.length; k++) {
      double factor = t[k][column];
      for (int j = 0; j < t[k].length && k != row && factor != 0; j++) {
        t[k][j] -= factor * t[row][j];
      }
    }
  }

  /** ||b - Ax||, each component rounded once. */
  static double residual(double[][] a, double[] b, double[] x) {
    double sum = 0;
    for (int i = 0; i < a.length; i++) {
      BigDecimal r = new BigDecimal(b[i]);
      for (int j = 0; j < x.length; j++) {
        if (a[i][j] != 0 && x[j] != 0) {
          r = r.subtract(new BigDecimal(a[i][j]).multiply(new BigDecimal(x[j])));
        }
      }
      sum = Math.hypot(sum, r.round(MathContext.DECIMAL64).doubleValue());
    }
    return sum;
  }

  private static double norm(double[] v) {
    return Math.sqrt(Arrays.stream(v).map(w -> w * w).sum());
  }
}
