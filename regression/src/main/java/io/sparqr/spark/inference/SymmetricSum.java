/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.inference;

/**
 * Sum of u u' over vectors of k values: either the upper triangle by rows, or the diagonal only.
 * Summed in blocks, to keep the rounding errors of many terms small.
 */
final class SymmetricSum {

  private static final int BLOCK = 256;

  private final int k;
  private final boolean full;
  private final double[] total;
  private final double[] block;
  private int inBlock;

  SymmetricSum(int k, boolean full) {
    this.k = k;
    this.full = full;
    this.total = new double[length(k, full)];
    this.block = new double[total.length];
  }

  static int length(int k, boolean full) {
    return full ? Math.toIntExact((long) k * (k + 1) / 2) : k;
  }

  /** Adds u u' of values [from, from + k). */
  void add(double[] u, int from) {
    int at = 0;
    for (int i = 0; i < k; i++) {
      double v = u[from + i];
      if (!full) {
        block[at++] += v * v;
      } else {
        for (int j = i; j < k; j++) {
          block[at++] += v * u[from + j];
        }
      }
    }
    if (++inBlock == BLOCK) {
      flush();
    }
  }

  private void flush() {
    for (int i = 0; i < block.length; i++) {
      total[i] += block[i];
      block[i] = 0;
    }
    inBlock = 0;
  }

  /** The sum so far. */
  double[] take() {
    flush();
    return total;
  }
}
