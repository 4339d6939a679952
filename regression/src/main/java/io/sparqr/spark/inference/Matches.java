/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.inference;

import io.sparqr.numeric.RowBlock;
import java.io.Serializable;
import java.util.Arrays;
import java.util.function.IntUnaryOperator;

/**
 * What the rows of some workers are to the columns of (A'A)^-1 of the firms: worker by worker and
 * firm by firm. (Of two ways, "worker" is the one with more columns here.)
 *
 * <p>For a column z of (A'A)^-1 that is not a worker's, A'A z is 0 at each worker, hence his effect
 * is minus the mean of the rest over his rows, and row i of A z is
 *
 * <pre>
 *   a_i'z = r_i (u_f + e_i'z_O),   u_f = z_f - sum_g share_g z_g + mean_f'z_O
 * </pre>
 *
 * with the root r_i of the row's weight, his firm f in the row, the shares of his firms in his
 * weights, the other columns' means over his rows with firm f less those over all his rows, and
 * their deviations e_i from the mean with f. With q_i = s_i r_i^2 the sum of s_i (a_i'z)^2 over his
 * rows with f is therefore
 *
 * <pre>
 *   (sum q_i) u_f^2 + 2 u_f (sum q_i e_i)'z_O + z_O'(sum q_i e_i e_i')z_O
 * </pre>
 *
 * whose terms do not cancel: the differences are taken before the squares.
 *
 * @param others number p of other columns
 * @param start where each worker's matches begin, and their end
 * @param firm by match: index of the firm among the columns of z; -1: none
 * @param share by match: of the worker's weight; 0 if he has no effect
 * @param mean p by match
 * @param sum by match: of the q_i
 * @param slope p by match: sum of q_i e_i
 * @param lone firms x p: sums of q_i e_i over the rows of workers of one firm, of whom u is 0
 * @param square p x p: sum of q_i e_i e_i' over all rows
 */
record Matches(
    int others,
    int[] start,
    int[] firm,
    double[] share,
    double[] mean,
    double[] sum,
    double[] slope,
    double[] lone,
    double[] square)
    implements Serializable {

  /** Right-hand sides of a row on its way here: its s_i and r_i. */
  static final int WIDTH = 2;

  /**
   * Of all rows of some workers. O(rows log rows).
   *
   * @param rows with the worker's column as their front, -1 for none
   * @param firms number of firms
   * @param firmOf index of a firm's column among these; -1 for other columns
   * @param place index of another column among these; -1 for firms
   */
  static Matches of(
      RowBlock rows, int firms, IntUnaryOperator firmOf, IntUnaryOperator place, int others) {
    return new Builder(rows, firms, firmOf, place, others).build();
  }

  /** Collects the matches worker by worker. */
  private static final class Builder {
    private final RowBlock rows;
    private final int others;
    private final int[] firm;
    private final double[] x;
    private final int[] start;
    private final int[] firmOfMatch;
    private final double[] share;
    private final double[] mean;
    private final double[] sum;
    private final double[] slope;
    private final double[] lone;
    private final double[] square;
    private int matches;
    private int workers;

    /** Reads the rows' firms and other columns, the latter without weights. */
    Builder(RowBlock rows, int firms, IntUnaryOperator firmOf, IntUnaryOperator place, int others) {
      this.rows = rows;
      this.others = others;
      int m = rows.rows();
      this.firm = new int[m];
      this.x = new double[Math.multiplyExact(m, others)];
      Arrays.fill(firm, -1);
      for (int i = 0; i < m; i++) {
        for (int e = rows.rowStart()[i]; e < rows.rowStart()[i + 1]; e++) {
          int f = firmOf.applyAsInt(rows.position()[e]);
          int k = place.applyAsInt(rows.position()[e]);
          if (f >= 0) {
            firm[i] = f;
          } else if (k >= 0) {
            x[i * others + k] = rows.value()[e] / root(i);
          }
        }
      }
      this.start = new int[m + 1];
      this.firmOfMatch = new int[m];
      this.share = new double[m];
      this.mean = new double[x.length];
      this.sum = new double[m];
      this.slope = new double[x.length];
      this.lone = new double[Math.multiplyExact(firms, others)];
      this.square = new double[others * others];
    }

    private double root(int row) {
      return rows.rhs()[row * WIDTH + 1];
    }

    private double weight(int row) {
      return root(row) * root(row);
    }

    private double q(int row) {
      return rows.rhs()[row * WIDTH] * weight(row);
    }

    Matches build() {
      int[] order = order();
      for (int from = 0; from < order.length; ) {
        int worker = rows.front()[order[from]];
        int to = from + 1;
        while (to < order.length && rows.front()[order[to]] == worker) {
          to++;
        }
        if (worker < 0) {
          alone(order, from, to);
        } else {
          together(order, from, to);
        }
        from = to;
      }
      return new Matches(
          others,
          Arrays.copyOf(start, workers + 1),
          Arrays.copyOf(firmOfMatch, matches),
          Arrays.copyOf(share, matches),
          Arrays.copyOf(mean, matches * others),
          Arrays.copyOf(sum, matches),
          Arrays.copyOf(slope, matches * others),
          lone,
          square);
    }

    /** The rows by worker, then by firm, then as they are. */
    private int[] order() {
      long[] key = new long[rows.rows()];
      for (int i = 0; i < key.length; i++) {
        key[i] = (long) rows.front()[i] << 32 | i;
      }
      Arrays.sort(key);
      for (int from = 0, to; from < key.length; from = to) {
        int worker = rows.front()[(int) key[from]];
        to = from;
        while (to < key.length && rows.front()[(int) key[to]] == worker) {
          key[to] = (long) firm[(int) key[to]] << 32 | (int) key[to];
          to++;
        }
        Arrays.sort(key, from, to);
      }
      return Arrays.stream(key).mapToInt(k -> (int) k).toArray();
    }

    /** Rows without a worker: nothing is subtracted, each is a match. */
    private void alone(int[] order, int from, int to) {
      for (int k = from; k < to; k++) {
        int i = order[k];
        firmOfMatch[matches] = firm[i];
        sum[matches] = q(i);
        System.arraycopy(x, i * others, mean, matches * others, others);
        matches++;
      }
      start[++workers] = matches;
    }

    private void together(int[] order, int from, int to) {
      double all = 0;
      double[] center = new double[others];
      for (int k = from; k < to; k++) {
        all += weight(order[k]);
        addTo(center, order[k]);
      }
      divide(center, all);
      boolean one = firm[order[from]] == firm[order[to - 1]];
      for (int first = from; first < to; ) {
        int end = first + 1;
        while (end < to && firm[order[end]] == firm[order[first]]) {
          end++;
        }
        match(order, first, end, all, center, one);
        first = end;
      }
      if (start[workers] < matches) {
        start[++workers] = matches;
      }
    }

    private void addTo(double[] to, int row) {
      for (int k = 0; k < others; k++) {
        to[k] += weight(row) * x[row * others + k];
      }
    }

    private static void divide(double[] v, double by) {
      for (int k = 0; k < v.length; k++) {
        v[k] /= by;
      }
    }

    /**
     * A worker's rows with one firm, or without one.
     *
     * @param only whether he has no others: u is 0 then, and nothing but the deviations remains
     */
    private void match(int[] order, int from, int end, double all, double[] center, boolean only) {
      double weight = 0;
      double[] own = new double[others];
      for (int k = from; k < end; k++) {
        weight += weight(order[k]);
        addTo(own, order[k]);
      }
      divide(own, weight);
      int f = firm[order[from]];
      double[] to = only ? lone : slope;
      int at = (only ? f : matches) * others;
      double[] e = new double[others];
      for (int k = from; k < end; k++) {
        int i = order[k];
        double q = q(i);
        sum[matches] += q;
        for (int c = 0; c < others; c++) {
          e[c] = x[i * others + c] - own[c];
          for (int d = 0; d <= c; d++) {
            square[c * others + d] += q * e[c] * e[d];
            square[d * others + c] = square[c * others + d];
          }
          if (f >= 0 || !only) {
            to[at + c] += q * e[c];
          }
        }
      }
      if (only) {
        sum[matches] = 0;
        return;
      }
      firmOfMatch[matches] = f;
      share[matches] = weight / all;
      for (int c = 0; c < others; c++) {
        mean[matches * others + c] = own[c] - center[c];
      }
      matches++;
    }
  }

  /**
   * Two sums over the rows i, weighted by s_i: of n_j (a_i'Z e_j)^2 over some firms j, and of the
   * row's own effect, r_i a_i'Z e_j for its own firm j.
   *
   * @param z rows of (A'A)^-1 at the firms, then at the other columns; in columns [first, first +
   *     its width), by index, of the firms
   * @param weight n_j by index of the firm
   */
  double[] effects(double[][] z, double[] weight, int first) {
    int width = z[0].length;
    int firms = z.length - others;
    double[] total = new double[width];
    double[] none = new double[width];
    double[] t = new double[width];
    double[] u = new double[width];
    double[] r = new double[width];
    double own = 0;
    for (int w = 0; w + 1 < start.length; w++) {
      Arrays.fill(t, 0);
      for (int k = start[w]; k < start[w + 1]; k++) {
        if (firm[k] >= 0 && share[k] != 0) {
          add(share[k], z[firm[k]], t);
        }
      }
      for (int k = start[w]; k < start[w + 1]; k++) {
        double[] f = firm[k] < 0 ? none : z[firm[k]];
        int j = firm[k] - first;
        own += firm[k] >= 0 && j >= 0 && j < width ? own(k, f[j] - t[j], z, j) : 0;
        if (others == 0) {
          addSquares(sum[k], f, t, total);
        } else if (others <= 2) {
          double[] second = others == 1 ? none : z[firms + 1];
          int at = k * others;
          int and = at + others - 1;
          double half = others == 1 ? 0 : 1;
          addSquares(
              sum[k],
              f,
              t,
              z[firms],
              second,
              mean[at],
              half * mean[and],
              2 * slope[at],
              2 * half * slope[and],
              total);
        } else {
          difference(f, t, u);
          Arrays.fill(r, 0);
          for (int c = 0; c < others; c++) {
            add(mean[k * others + c], z[firms + c], u);
            add(slope[k * others + c], z[firms + c], r);
          }
          addSquaresAnd(sum[k], u, r, total);
        }
      }
    }
    for (int j = 0; j < width; j++) {
      for (int c = 0; c < others; c++) {
        own += lone[(first + j) * others + c] * z[firms + c][j];
      }
    }
    for (int c = 0; c < others; c++) {
      for (int d = 0; d < others; d++) {
        addProduct(square[c * others + d], z[firms + c], z[firms + d], total);
      }
    }
    double sum = 0;
    for (int j = 0; j < width; j++) {
      sum += weight[first + j] * total[j];
    }
    return new double[] {sum, own};
  }

  /** The effect of a match on its own firm's column j, with the difference z_f - t there. */
  private double own(int match, double difference, double[][] z, int j) {
    int firms = z.length - others;
    double u = difference;
    double r = 0;
    for (int c = 0; c < others; c++) {
      u += mean[match * others + c] * z[firms + c][j];
      r += slope[match * others + c] * z[firms + c][j];
    }
    return sum[match] * u + r;
  }

  private static void add(double a, double[] x, double[] y) {
    for (int i = 0; i < y.length; i++) {
      y[i] += a * x[i];
    }
  }

  private static void difference(double[] x, double[] y, double[] d) {
    for (int i = 0; i < d.length; i++) {
      d[i] = x[i] - y[i];
    }
  }

  private static void addSquares(double s, double[] x, double[] y, double[] total) {
    for (int i = 0; i < total.length; i++) {
      double u = x[i] - y[i];
      total[i] += s * u * u;
    }
  }

  /** With two other columns, a and b, their means m and twice their slopes q. */
  private static void addSquares(
      double s,
      double[] x,
      double[] y,
      double[] a,
      double[] b,
      double ma,
      double mb,
      double qa,
      double qb,
      double[] total) {
    for (int i = 0; i < total.length; i++) {
      double u = x[i] - y[i] + ma * a[i] + mb * b[i];
      total[i] += u * (s * u + qa * a[i] + qb * b[i]);
    }
  }

  private static void addSquaresAnd(double s, double[] u, double[] r, double[] total) {
    for (int i = 0; i < total.length; i++) {
      total[i] += u[i] * (s * u[i] + 2 * r[i]);
    }
  }

  private static void addProduct(double s, double[] x, double[] y, double[] total) {
    for (int i = 0; i < total.length; i++) {
      total[i] += s * x[i] * y[i];
    }
  }
}
