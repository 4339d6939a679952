/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.lowrank;

import io.sparqr.numeric.dense.DenseKernels;
import java.io.Serializable;
import java.util.Arrays;

/**
 * An iteration, as the blocks of rows need it: singular values of W above t = 1 / mu, less t, as a
 * product from the right. L = W V max(1 - t / sigma, 0) V' equals U max(sigma - t, 0) V' of W = U
 * sigma V', without U and so without Q. Where few singular values are above t this is (W V_r) (D
 * V_r'), 4 m n r flops, else W times an n x n matrix, 2 m n^2. Not a record, because Kryo cannot
 * read records.
 */
public final class PursuitStep implements Serializable {

  private static final long serialVersionUID = 1;

  final PursuitStart start;

  /** n. */
  final int columns;

  /** Singular values above t. */
  final int rank;

  /** V_r, n x rank, column-major. */
  final double[] left;

  /** D V_r', rank x n, column-major. */
  final double[] right;

  /** Size rank: 1 - t / sigma. */
  final double[] kept;

  /** V_r D V_r', n x n, where that is less work; else empty. */
  private final double[] whole;

  /** Of this iteration and the next. */
  final double mu;

  final double nextMu;

  /**
   * The threshold of W by the SVD of its R.
   *
   * @param sigma size n, descending
   * @param vt n x n, V', column-major
   */
  PursuitStep(
      DenseKernels kernels,
      PursuitStart start,
      int columns,
      double[] sigma,
      double[] vt,
      double mu,
      double nextMu) {
    this.start = start;
    this.columns = columns;
    this.mu = mu;
    this.nextMu = nextMu;
    int above = 0;
    while (above < columns && sigma[above] * mu > 1) {
      above++;
    }
    rank = above;
    kept = new double[rank];
    left = new double[columns * rank];
    right = new double[rank * columns];
    for (int k = 0; k < rank; k++) {
      kept[k] = 1 - 1 / (sigma[k] * mu);
      for (int j = 0; j < columns; j++) {
        double v = vt[k + j * columns];
        left[j + k * columns] = v;
        right[k + j * rank] = kept[k] * v;
      }
    }
    whole = new double[2 * rank < columns ? 0 : columns * columns];
    if (whole.length > 0) {
      kernels.gemm(
          false, columns, columns, rank, 1, left, 0, columns, right, 0, rank, 0, whole, 0, columns);
    }
  }

  /**
   * L of some rows.
   *
   * @param w rows x n, column-major
   * @param l receives L, rows x n
   * @param between at least rows x rank, overwritten
   */
  void threshold(DenseKernels kernels, double[] w, int rows, double[] l, double[] between) {
    int n = columns;
    if (rank == 0) {
      Arrays.fill(l, 0, rows * n, 0);
    } else if (whole.length > 0) {
      kernels.gemm(false, rows, n, n, 1, w, 0, rows, whole, 0, n, 0, l, 0, rows);
    } else {
      kernels.gemm(false, rows, rank, n, 1, w, 0, rows, left, 0, n, 0, between, 0, rows);
      kernels.gemm(false, rows, n, rank, 1, between, 0, rows, right, 0, rank, 0, l, 0, rows);
    }
  }

  /** A factor F of L = F V_r' of some rows: W V_r D, rows x rank, column-major, in M's units. */
  double[] factor(DenseKernels kernels, double[] w, int rows) {
    double[] f = new double[rows * rank];
    if (rank > 0) {
      kernels.gemm(false, rows, rank, columns, 1, w, 0, rows, left, 0, columns, 0, f, 0, rows);
      for (int k = 0; k < rank; k++) {
        for (int i = 0; i < rows; i++) {
          f[i + k * rows] *= kept[k] / start.scale;
        }
      }
    }
    return f;
  }

  /** The matrix P of L = W P: n x n, column-major. 2 n^2 r flops. */
  public double[] product() {
    if (whole.length > 0) {
      return whole;
    }
    double[] p = new double[columns * columns];
    for (int k = 0; k < rank; k++) {
      for (int j = 0; j < columns; j++) {
        double x = right[k + j * rank];
        for (int i = 0; i < columns; i++) {
          p[i + j * columns] += left[i + k * columns] * x;
        }
      }
    }
    return p;
  }

  /** What all iterations have. */
  public PursuitStart start() {
    return start;
  }

  /** The penalty of this iteration. */
  public double mu() {
    return mu;
  }

  /** The penalty of the next one. */
  public double nextMu() {
    return nextMu;
  }

  /** Singular values of W above the threshold. */
  public int rank() {
    return rank;
  }

  /** A row of L by one of F, n values. */
  public double[] lowRankRow(double[] f) {
    double[] row = new double[columns];
    for (int k = 0; k < rank; k++) {
      for (int j = 0; j < columns; j++) {
        row[j] += f[k] * left[j + k * columns];
      }
    }
    return row;
  }

  /** V_r W of W', rank x rank, column-major: n x rank. */
  public double[] turned(double[] transposed) {
    double[] v = new double[columns * rank];
    for (int k = 0; k < rank; k++) {
      for (int l = 0; l < rank; l++) {
        double x = transposed[k + l * rank];
        for (int j = 0; j < columns; j++) {
          v[j + k * columns] += left[j + l * columns] * x;
        }
      }
    }
    return v;
  }
}
