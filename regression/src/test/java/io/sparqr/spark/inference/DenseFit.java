/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.inference;

import io.sparqr.numeric.Tolerances;
import io.sparqr.spark.model.SparseRow;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.apache.commons.math3.linear.Array2DRowRealMatrix;
import org.apache.commons.math3.linear.ArrayRealVector;
import org.apache.commons.math3.linear.QRDecomposition;
import org.apache.commons.math3.linear.RealMatrix;

/** The oracle: dense QR of the live columns, scaled to norm 1, by commons-math. */
final class DenseFit {

  final int n;
  final int[] live;

  /** n x n, zero in dead rows and columns: (A'A)^-1. */
  final double[][] z;

  final double[] x;
  final double[] residual;

  /** Size m: a_i'(A'A)^-1 a_i. */
  final double[] leverage;

  /** Of the scaled live columns: ||R||_F ||R^-1||_F. */
  final double condition;

  /** Null vectors (t, -1) of the dead columns, size n each. */
  final List<double[]> nullSpace = new ArrayList<>();

  final double[][] a;
  final double[] b;

  /** Size n: norms of the columns. */
  final double[] scale;

  /** Of weighted rows. */
  DenseFit(double[][] a, double[] b, int[] dead) {
    this.a = a;
    this.b = b;
    this.n = a[0].length;
    this.live =
        IntStream.range(0, n).filter(j -> java.util.Arrays.binarySearch(dead, j) < 0).toArray();
    int r = live.length;
    scale = new double[n];
    for (int j = 0; j < n; j++) {
      for (double[] row : a) {
        scale[j] = Math.hypot(scale[j], row[j]);
      }
    }
    var scaled = new Array2DRowRealMatrix(a.length, r);
    for (int i = 0; i < a.length; i++) {
      for (int k = 0; k < r; k++) {
        scaled.setEntry(i, k, a[i][live[k]] / scale[live[k]]);
      }
    }
    var qr = new QRDecomposition(scaled);
    RealMatrix upper = qr.getR().getSubMatrix(0, r - 1, 0, r - 1);
    RealMatrix inverse = inverse(upper);
    condition = upper.getFrobeniusNorm() * inverse.getFrobeniusNorm();
    RealMatrix product = inverse.multiply(inverse.transpose());
    z = new double[n][n];
    for (int k = 0; k < r; k++) {
      for (int l = 0; l < r; l++) {
        z[live[k]][live[l]] = product.getEntry(k, l) / scale[live[k]] / scale[live[l]];
      }
    }
    x = new double[n];
    double[] y = qr.getSolver().solve(new ArrayRealVector(b)).toArray();
    for (int k = 0; k < r; k++) {
      x[live[k]] = y[k] / scale[live[k]];
    }
    residual = new double[a.length];
    leverage = new double[a.length];
    RealMatrix q = scaled.multiply(inverse);
    for (int i = 0; i < a.length; i++) {
      residual[i] = b[i];
      for (int j : live) {
        residual[i] -= a[i][j] * x[j];
      }
      for (double v : q.getRow(i)) {
        leverage[i] += v * v;
      }
    }
    for (int d : dead) {
      double[] column = new double[a.length];
      for (int i = 0; i < a.length; i++) {
        column[i] = a[i][d];
      }
      double[] t = qr.getSolver().solve(new ArrayRealVector(column)).toArray();
      double[] v = new double[n];
      for (int k = 0; k < r; k++) {
        v[live[k]] = t[k] / scale[live[k]];
      }
      v[d] = -1;
      nullSpace.add(v);
    }
  }

  private static RealMatrix inverse(RealMatrix r) {
    int n = r.getRowDimension();
    var inverse = new Array2DRowRealMatrix(n, n);
    for (int j = 0; j < n; j++) {
      for (int i = j; i >= 0; i--) {
        double sum = i == j ? 1 : 0;
        for (int k = i + 1; k <= j; k++) {
          sum -= r.getEntry(i, k) * inverse.getEntry(k, j);
        }
        inverse.setEntry(i, j, sum / r.getEntry(i, i));
      }
    }
    return inverse;
  }

  double norm() {
    double norm = 0;
    for (double r : residual) {
      norm = Math.hypot(norm, r);
    }
    return norm;
  }

  /** The largest accepted relative errors. */
  double tolerance() {
    return Tolerances.ofStandardError(condition);
  }

  /** Whether l is orthogonal to the null space. */
  boolean isEstimable(SparseRow l) {
    double size = 0;
    for (int e = 0; e < l.indices().length; e++) {
      double s = scale[l.indices()[e]];
      size = Math.hypot(size, s == 0 ? l.values()[e] : l.values()[e] / s);
    }
    for (double[] v : nullSpace) {
      double product = 0;
      double norm = 0;
      for (int j = 0; j < n; j++) {
        norm = Math.hypot(norm, scale[j] == 0 ? v[j] : v[j] * scale[j]);
      }
      for (int e = 0; e < l.indices().length; e++) {
        product += l.values()[e] * v[l.indices()[e]];
      }
      if (Math.abs(product) > 1e-10 * size * norm) {
        return false;
      }
    }
    return true;
  }

  double form(SparseRow u, SparseRow v) {
    double sum = 0;
    for (int e = 0; e < u.indices().length; e++) {
      for (int f = 0; f < v.indices().length; f++) {
        sum += u.values()[e] * z[u.indices()[e]][v.indices()[f]] * v.values()[f];
      }
    }
    return sum;
  }

  static SparseRow row(double[] dense, double label, double weight) {
    int[] index = IntStream.range(0, dense.length).filter(j -> dense[j] != 0).toArray();
    double[] value = IntStream.of(index).mapToDouble(j -> dense[j]).toArray();
    return new SparseRow(index, value, new double[] {label}, weight, dense.length);
  }

  /** Blocks of random designs one below the other, without columns in extreme units. */
  static double[][] blocks(Random random, int count) {
    var blocks = new ArrayList<double[][]>();
    int n = 0;
    while (blocks.size() < count) {
      double[][] a = io.sparqr.spark.Designs.random(random).weighted();
      double most = 0;
      double least = 1;
      for (double[] row : a) {
        for (double v : row) {
          most = Math.max(most, Math.abs(v));
          least = v == 0 ? least : Math.min(least, Math.abs(v));
        }
      }
      if (most < 1e12 && least > 1e-12) {
        blocks.add(a);
        n += a[0].length;
      }
    }
    var rows = new ArrayList<double[]>();
    int first = 0;
    for (double[][] block : blocks) {
      for (double[] row : block) {
        double[] wide = new double[n];
        System.arraycopy(row, 0, wide, first, row.length);
        rows.add(wide);
      }
      first += block[0].length;
    }
    return rows.toArray(double[][]::new);
  }
}
