/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import java.io.Serializable;

/**
 * 2-norms of columns, accumulated entry by entry without overflow or underflow, and mergeable:
 * norm_j = scale_j sqrt(sum_j) with scale_j a power of two of at least half the largest entry.
 * Columns are divided by their norms before the factorization, so that the rank does not depend on
 * a column's unit.
 */
public final class ColumnNorms implements Serializable {

  private static final long serialVersionUID = 1;

  /** Exponent of the scale; the entries' squares are summed relative to it. */
  private final int[] exponent;

  private final double[] sum;

  /** Norms of n empty columns. */
  public ColumnNorms(int columns) {
    exponent = new int[columns];
    sum = new double[columns];
  }

  /** Adds one entry of column j. */
  public void add(int j, double value) {
    if (value == 0) {
      return;
    }
    int e = Math.getExponent(value);
    if (sum[j] == 0) {
      exponent[j] = e;
    } else if (e > exponent[j] + 64) {
      sum[j] = scaled(sum[j], 2 * (exponent[j] - e));
      exponent[j] = e;
    }
    double x = scaled(value, -exponent[j]);
    sum[j] += x * x;
  }

  /** Adds the columns of another part of the rows. */
  public ColumnNorms merge(ColumnNorms other) {
    for (int j = 0; j < sum.length; j++) {
      if (other.sum[j] == 0) {
        continue;
      }
      if (sum[j] == 0) {
        sum[j] = other.sum[j];
        exponent[j] = other.exponent[j];
        continue;
      }
      int e = Math.max(exponent[j], other.exponent[j]);
      sum[j] =
          scaled(sum[j], 2 * (exponent[j] - e)) + scaled(other.sum[j], 2 * (other.exponent[j] - e));
      exponent[j] = e;
    }
    return this;
  }

  /** Norm of column j. */
  public double norm(int j) {
    return scaled(Math.sqrt(sum[j]), exponent[j]);
  }

  /** The largest norm; 0 without columns. */
  public double max() {
    double max = 0;
    for (int j = 0; j < sum.length; j++) {
      max = Math.max(max, norm(j));
    }
    return max;
  }

  /** Size n: 1 / norm, and 1 for an empty column; the factors that scale the columns. */
  public double[] factors() {
    double[] factor = new double[sum.length];
    for (int j = 0; j < factor.length; j++) {
      double norm = norm(j);
      factor[j] = norm == 0 ? 1 : Math.min(1 / norm, Double.MAX_VALUE);
    }
    return factor;
  }

  /** x 2^e, where 2^e itself may be out of range. */
  private static double scaled(double x, int e) {
    if (e >= -1000 && e <= 1000) {
      return x * Double.longBitsToDouble((long) (e + 1023) << 52);
    }
    return Math.scalb(x, e);
  }
}
