/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import io.sparqr.spark.model.SparseRow;
import io.sparqr.sparse.CsrMatrix;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.spark.api.java.JavaRDD;

/** Seeded problems, and oracles that share nothing with the solver: dense Householder QR. */
public final class Problems {

  private Problems() {}

  /** A random m x n matrix, about {@code perRow} entries a row, values in [-1, 1). */
  public static CsrMatrix random(int m, int n, int perRow, long seed) {
    var random = new Random(seed);
    int[] start = new int[m + 1];
    int[] index = new int[m * perRow];
    double[] value = new double[m * perRow];
    int at = 0;
    for (int i = 0; i < m; i++) {
      int[] columns = random.ints(perRow, 0, n).distinct().sorted().toArray();
      for (int j : columns) {
        index[at] = j;
        value[at++] = 2 * random.nextDouble() - 1;
      }
      start[i + 1] = at;
    }
    return new CsrMatrix(m, n, start, Arrays.copyOf(index, at), Arrays.copyOf(value, at));
  }

  /** A k x k grid: one row an edge, one a node; a deep tree under nested dissection. */
  public static CsrMatrix grid(int k, long seed) {
    var random = new Random(seed);
    var rows = new ArrayList<int[]>();
    for (int i = 0; i < k; i++) {
      for (int j = 0; j < k; j++) {
        int v = i * k + j;
        rows.add(new int[] {v});
        if (j + 1 < k) {
          rows.add(new int[] {v, v + 1});
        }
        if (i + 1 < k) {
          rows.add(new int[] {v, v + k});
        }
      }
    }
    int[] start = new int[rows.size() + 1];
    for (int i = 0; i < rows.size(); i++) {
      start[i + 1] = start[i] + rows.get(i).length;
    }
    int[] index = rows.stream().flatMapToInt(Arrays::stream).toArray();
    double[] value = random.doubles(index.length, 0.5, 1.5).toArray();
    return new CsrMatrix(rows.size(), k * k, start, index, value);
  }

  /** A with {@code count} further columns, each with a row of its own that has 2 entries in A. */
  public static CsrMatrix withSingletons(CsrMatrix a, int count, long seed) {
    var random = new Random(seed);
    int nz = a.nonzeros();
    int[] start = Arrays.copyOf(a.rowStart(), a.rows() + count + 1);
    int[] index = Arrays.copyOf(a.columnIndex(), nz + 3 * count);
    double[] value = Arrays.copyOf(a.values(), nz + 3 * count);
    for (int k = 0; k < count; k++) {
      int first = random.nextInt(a.columns() - 1);
      int[] row = {first, first + 1, a.columns() + k};
      System.arraycopy(row, 0, index, nz + 3 * k, 3);
      for (int e = 0; e < 3; e++) {
        value[nz + 3 * k + e] = 0.5 + random.nextDouble();
      }
      start[a.rows() + k + 1] = nz + 3 * k + 3;
    }
    return new CsrMatrix(a.rows() + count, a.columns() + count, start, index, value);
  }

  /** Random right-hand side. */
  public static double[] rhs(int m, long seed) {
    return new Random(seed).doubles(m, -1, 1).toArray();
  }

  /** Rows with one right-hand side. */
  public static List<SparseRow> rows(CsrMatrix a, double[]... b) {
    var list = new ArrayList<SparseRow>();
    for (int i = 0; i < a.rows(); i++) {
      double[] labels = new double[b.length];
      for (int k = 0; k < b.length; k++) {
        labels[k] = b[k][i];
      }
      list.add(
          new SparseRow(
              Arrays.copyOfRange(a.columnIndex(), a.rowStart()[i], a.rowStart()[i + 1]),
              Arrays.copyOfRange(a.values(), a.rowStart()[i], a.rowStart()[i + 1]),
              labels,
              1,
              a.columns()));
    }
    return list;
  }

  /** As an RDD. */
  public static JavaRDD<SparseRow> rdd(CsrMatrix a, int partitions, double[]... b) {
    return LocalSpark.context().parallelize(rows(a, b), partitions);
  }

  /** Dense rows of [A b]. */
  public static double[][] dense(CsrMatrix a) {
    double[][] d = new double[a.rows()][a.columns()];
    for (int i = 0; i < a.rows(); i++) {
      for (int k = a.rowStart()[i]; k < a.rowStart()[i + 1]; k++) {
        d[i][a.columnIndex()[k]] += a.values()[k];
      }
    }
    return d;
  }

  /** x of a dense full-rank least-squares problem by modified Gram-Schmidt, done twice. */
  public static double[] solveDense(double[][] a, double[] b) {
    int m = a.length;
    int n = a[0].length;
    double[][] q = new double[n][m];
    double[][] r = new double[n][n];
    double[] c = new double[n];
    double[] rest = b.clone();
    for (int j = 0; j < n; j++) {
      for (int i = 0; i < m; i++) {
        q[j][i] = a[i][j];
      }
      for (int pass = 0; pass < 2; pass++) {
        for (int k = 0; k < j; k++) {
          double dot = dot(q[k], q[j]);
          r[k][j] += dot;
          axpy(-dot, q[k], q[j]);
        }
      }
      r[j][j] = Math.sqrt(dot(q[j], q[j]));
      for (int i = 0; i < m; i++) {
        q[j][i] /= r[j][j];
      }
      c[j] = dot(q[j], rest);
      axpy(-c[j], q[j], rest);
    }
    for (int j = n - 1; j >= 0; j--) {
      for (int k = j + 1; k < n; k++) {
        c[j] -= r[j][k] * c[k];
      }
      c[j] /= r[j][j];
    }
    return c;
  }

  static double dot(double[] x, double[] y) {
    double s = 0;
    for (int i = 0; i < x.length; i++) {
      s += x[i] * y[i];
    }
    return s;
  }

  static void axpy(double alpha, double[] x, double[] y) {
    for (int i = 0; i < x.length; i++) {
      y[i] += alpha * x[i];
    }
  }

  /** 2-norm. */
  public static double norm(double[] x) {
    return Math.sqrt(dot(x, x));
  }

  /** ||A'(b - Ax)|| / (||A||_F ||b - Ax||). */
  public static double normalResidual(CsrMatrix a, double[] x, double[] b) {
    double[] r = residual(a, x, b);
    return norm(a.multiplyTransposed(r)) / norm(a.values()) / norm(r);
  }

  /** b - Ax. */
  public static double[] residual(CsrMatrix a, double[] x, double[] b) {
    double[] r = a.multiply(x);
    for (int i = 0; i < r.length; i++) {
      r[i] = b[i] - r[i];
    }
    return r;
  }
}
