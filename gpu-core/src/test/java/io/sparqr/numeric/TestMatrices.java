/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import io.sparqr.sparse.CsrMatrix;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;

/** Seeded matrices for the tests, rows as maps so that shapes stay readable. */
public final class TestMatrices {

  private TestMatrices() {}

  /** A CSR matrix of rows given as column -> value. */
  public static CsrMatrix of(int columns, List<TreeMap<Integer, Double>> rows) {
    int[] start = new int[rows.size() + 1];
    for (int i = 0; i < rows.size(); i++) {
      start[i + 1] = start[i] + rows.get(i).size();
    }
    int[] index = new int[start[rows.size()]];
    double[] value = new double[index.length];
    int k = 0;
    for (var row : rows) {
      for (var e : row.entrySet()) {
        index[k] = e.getKey();
        value[k++] = e.getValue();
      }
    }
    return new CsrMatrix(rows.size(), columns, start, index, value);
  }

  /** All entries are stored. */
  public static CsrMatrix dense(int m, int n, Random random) {
    double[][] a = new double[m][n];
    for (double[] row : a) {
      for (int j = 0; j < n; j++) {
        row[j] = random.nextGaussian();
      }
    }
    return ofDense(a, n, true);
  }

  /** m x n of rank r: a product of two random factors. */
  public static CsrMatrix ofRank(int m, int n, int r, Random random) {
    double[][] a = new double[m][n];
    for (int l = 0; l < r; l++) {
      double[] u = random.doubles(m, -1, 1).toArray();
      double[] v = random.doubles(n, -1, 1).toArray();
      for (int i = 0; i < m; i++) {
        for (int j = 0; j < n; j++) {
          a[i][j] += u[i] * v[j];
        }
      }
    }
    return ofDense(a, n, true);
  }

  /** Sparse with about {@code perRow} entries a row; every {@code heavy}-th column denser. */
  public static CsrMatrix sparse(int m, int n, int perRow, Random random) {
    List<TreeMap<Integer, Double>> rows = new ArrayList<>();
    for (int i = 0; i < m; i++) {
      var row = new TreeMap<Integer, Double>();
      int count = 1 + random.nextInt(2 * perRow);
      int center = random.nextInt(n);
      for (int k = 0; k < count; k++) {
        boolean near = random.nextInt(4) > 0;
        int j = near ? Math.floorMod(center + random.nextInt(5) - 2, n) : random.nextInt(n);
        row.put(j, random.nextGaussian() + Math.copySign(0.5, random.nextGaussian()));
      }
      rows.add(row);
    }
    return of(n, rows);
  }

  /** Row i starts at column i * n / m: a staircase, dense to the right of it. */
  public static CsrMatrix staircase(int m, int n, Random random) {
    List<TreeMap<Integer, Double>> rows = new ArrayList<>();
    for (int i = 0; i < m; i++) {
      var row = new TreeMap<Integer, Double>();
      for (int j = (int) ((long) i * n / m); j < n; j++) {
        row.put(j, random.nextGaussian());
      }
      rows.add(row);
    }
    return of(n, rows);
  }

  /** Edges of a connected random graph, entries -1 and 1: rank n - 1. */
  public static CsrMatrix incidence(int edges, int n, Random random) {
    List<TreeMap<Integer, Double>> rows = new ArrayList<>();
    for (int i = 0; i < edges; i++) {
      int to = i < n - 1 ? i + 1 : random.nextInt(n);
      int from = i < n - 1 ? random.nextInt(i + 1) : (to + 1 + random.nextInt(n - 1)) % n;
      var row = new TreeMap<Integer, Double>();
      row.put(from, -1.0);
      row.put(to, 1.0);
      rows.add(row);
    }
    return of(n, rows);
  }

  /** Dense rows; zeros are kept as entries or not. */
  public static CsrMatrix ofDense(double[][] a, int n, boolean keepZeros) {
    List<TreeMap<Integer, Double>> rows = new ArrayList<>();
    for (double[] r : a) {
      var row = new TreeMap<Integer, Double>();
      for (int j = 0; j < n; j++) {
        if (keepZeros || r[j] != 0) {
          row.put(j, r[j]);
        }
      }
      rows.add(row);
    }
    return of(n, rows);
  }

  /** The same rows in another order. */
  public static CsrMatrix permuteRows(CsrMatrix a, int[] order) {
    List<TreeMap<Integer, Double>> rows = new ArrayList<>();
    for (int i : order) {
      var row = new TreeMap<Integer, Double>();
      for (int k = a.rowStart()[i]; k < a.rowStart()[i + 1]; k++) {
        row.put(a.columnIndex()[k], a.values()[k]);
      }
      rows.add(row);
    }
    return of(a.columns(), rows);
  }

  /** The same with every value multiplied. */
  public static CsrMatrix scale(CsrMatrix a, double s) {
    double[] v = a.values().clone();
    for (int k = 0; k < v.length; k++) {
      v[k] *= s;
    }
    return new CsrMatrix(a.rows(), a.columns(), a.rowStart(), a.columnIndex(), v);
  }

  /**
   * Blocks of rows with columns of their own and shared ones, which come last and have rows of
   * their own too: in the natural order a tall root with as many children as there are blocks.
   *
   * @param dependent whether one shared column is the sum of two others, and one of the first
   *     block's a multiple of another
   */
  public static CsrMatrix blocks(boolean dependent, Random random) {
    int blocks = 5 + random.nextInt(3);
    int own = 4 + random.nextInt(8);
    int shared = 12 + random.nextInt(20);
    int n = blocks * own + shared;
    var rows = new ArrayList<TreeMap<Integer, Double>>();
    for (int b = 0; b < blocks; b++) {
      int begin = random.nextInt(shared / 2);
      for (int i = 0; i < 2 * (own + shared); i++) {
        var row = new TreeMap<Integer, Double>();
        for (int k = 0; k < own; k++) {
          row.put(b * own + k, random.nextGaussian());
        }
        for (int k = begin; k < shared - 3; k++) {
          row.put(blocks * own + k, random.nextGaussian());
        }
        if (dependent && b == 0) {
          row.put(1, -3 * row.get(0));
        }
        rows.add(row);
      }
    }
    for (int i = 0; i < shared / 2; i++) {
      var row = new TreeMap<Integer, Double>();
      for (int k = 0; k < shared; k++) {
        row.put(blocks * own + k, random.nextGaussian());
      }
      rows.add(row);
    }
    if (dependent) {
      int last = n - 1;
      for (var row : rows) {
        double sum = row.getOrDefault(last - 1, 0.0) + row.getOrDefault(last - 4, 0.0);
        row.remove(last);
        if (sum != 0) {
          row.put(last, sum);
        }
      }
    }
    return of(n, rows);
  }

  /** A random order of 0 .. n-1. */
  public static int[] shuffle(int n, Random random) {
    int[] p = new int[n];
    for (int i = 0; i < n; i++) {
      int j = random.nextInt(i + 1);
      p[i] = p[j];
      p[j] = i;
    }
    return p;
  }

  /** Gaussian values. */
  public static double[] vector(int n, Random random) {
    double[] x = new double[n];
    for (int i = 0; i < n; i++) {
      x[i] = random.nextGaussian();
    }
    return x;
  }

  /** A copy of a front's rows of R, without the unused end of their buffer. */
  public static double[] rowsOfR(FrontFactor f) {
    double[] values = new double[f.length()];
    f.values().get(0, values);
    return values;
  }
}
