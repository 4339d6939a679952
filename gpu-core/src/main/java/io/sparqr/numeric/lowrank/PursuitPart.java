/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.lowrank;

import java.io.Serializable;
import java.util.Arrays;

/** A factor F of L = F V' and the entries of S, of some rows, by chunks of them. */
public final class PursuitPart implements Serializable {

  private static final long serialVersionUID = 1;

  private final int columns;
  private final int rank;

  /** Of each chunk rows x rank, column-major. */
  private final double[][] factor;

  /** Of each chunk size rows + 1. */
  private final int[][] start;

  private final int[][] index;
  private final double[][] value;

  PursuitPart(int columns, int rank, int chunks) {
    this.columns = columns;
    this.rank = rank;
    factor = new double[chunks][];
    start = new int[chunks][];
    index = new int[chunks][];
    value = new double[chunks][];
  }

  /** Of a chunk: F, and S scaled, rows x n, column-major. */
  void set(int chunk, int rows, double[] f, double[] s, double scale) {
    factor[chunk] = f;
    int[] next = new int[rows + 1];
    for (int j = 0; j < columns; j++) {
      for (int i = 0; i < rows; i++) {
        next[i + 1] += s[i + j * rows] != 0 ? 1 : 0;
      }
    }
    for (int i = 0; i < rows; i++) {
      next[i + 1] += next[i];
    }
    start[chunk] = next.clone();
    index[chunk] = new int[next[rows]];
    value[chunk] = new double[next[rows]];
    for (int j = 0; j < columns; j++) {
      for (int i = 0; i < rows; i++) {
        double x = s[i + j * rows];
        if (x != 0) {
          index[chunk][next[i]] = j;
          value[chunk][next[i]++] = x / scale;
        }
      }
    }
  }

  /** Number of chunks. */
  public int chunks() {
    return factor.length;
  }

  /** Rows of a chunk. */
  public int rows(int chunk) {
    return start[chunk].length - 1;
  }

  /** Entries of S. */
  public long nonzeros() {
    long sum = 0;
    for (int[] of : index) {
      sum += of.length;
    }
    return sum;
  }

  /** Columns of F. */
  public int rank() {
    return rank;
  }

  /** F of a chunk, rows x rank, column-major. */
  public double[] factor(int chunk) {
    return factor[chunk];
  }

  /** A row of F. */
  public double[] factorRow(int chunk, int row) {
    double[] f = new double[rank];
    for (int k = 0; k < rank; k++) {
      f[k] = factor[chunk][row + k * rows(chunk)];
    }
    return f;
  }

  /** The columns of S that a row has entries in, ascending. */
  public int[] indices(int chunk, int row) {
    return Arrays.copyOfRange(index[chunk], start[chunk][row], start[chunk][row + 1]);
  }

  /** The entries. */
  public double[] values(int chunk, int row) {
    return Arrays.copyOfRange(value[chunk], start[chunk][row], start[chunk][row + 1]);
  }
}
