/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import io.sparqr.symbolic.SymbolicAnalysis;

/**
 * Triangular solves with the rows of R of one front. Vectors are by local column, row-major: entry
 * k * rhsCount + q is column k, right-hand side q. Going through the fronts from last to first
 * (back substitution) or first to last (transposed) solves with the whole of R. Flops: 2 x values x
 * rhs.
 */
public final class FrontSolve {

  private FrontSolve() {}

  /**
   * Solves for the pivots: R11 x1 = rhs - R12 x2, dead pivots 0.
   *
   * @param rhs rank x rhsCount, row-major: {@link FrontFactor#rhs()} or another right-hand side
   * @param rhsCount right-hand sides
   * @param x fn x rhsCount; the tail is read, the pivots fp are written
   * @param fp pivot columns of the front
   */
  public static void backSubstitute(
      FrontFactor factor, double[] rhs, int rhsCount, double[] x, int fp) {
    java.util.Arrays.fill(x, 0, fp * rhsCount, 0);
    int fn = factor.fn();
    int[] live = factor.livePivot();
    double[] r = TestMatrices.rowsOfR(factor);
    int end = factor.length();
    for (int i = live.length - 1; i >= 0; i--) {
      int k = live[i];
      int start = end - (fn - k);
      for (int q = 0; q < rhsCount; q++) {
        double sum = rhs[i * rhsCount + q];
        for (int j = k + 1; j < fn; j++) {
          sum = Math.fma(-r[start + j - k], x[j * rhsCount + q], sum);
        }
        x[k * rhsCount + q] = sum / r[start];
      }
      end = start;
    }
  }

  /**
   * Solves R11' z = c1 for the live pivots and takes R12' z off the tail.
   *
   * @param rhsCount right-hand sides
   * @param c fn x rhsCount: right-hand side on entry; on return its tail is reduced by R12' z, and
   *     must be added up for the parent by the caller
   * @param z out: rank x rhsCount, row-major
   */
  public static void forwardSubstitute(FrontFactor factor, int rhsCount, double[] c, double[] z) {
    int fn = factor.fn();
    int[] live = factor.livePivot();
    double[] r = TestMatrices.rowsOfR(factor);
    int start = 0;
    for (int i = 0; i < live.length; i++) {
      int k = live[i];
      for (int q = 0; q < rhsCount; q++) {
        double zi = c[k * rhsCount + q] / r[start];
        z[i * rhsCount + q] = zi;
        for (int j = k + 1; j < fn; j++) {
          c[j * rhsCount + q] = Math.fma(-r[start + j - k], zi, c[j * rhsCount + q]);
        }
      }
      start += fn - k;
    }
  }

  /** Copies the entries of a front's columns out of a vector by position (n x rhsCount). */
  public static void gather(
      SymbolicAnalysis analysis, int front, int rhsCount, double[] byPosition, double[] local) {
    int fn = analysis.fn(front);
    for (int k = 0; k < fn; k++) {
      System.arraycopy(
          byPosition, analysis.column(front, k) * rhsCount, local, k * rhsCount, rhsCount);
    }
  }

  /** Copies local columns [from, to) back into a vector by position (n x rhsCount). */
  public static void scatter(
      SymbolicAnalysis analysis,
      int front,
      int rhsCount,
      double[] local,
      double[] byPosition,
      int from,
      int to) {
    for (int k = from; k < to; k++) {
      System.arraycopy(
          local, k * rhsCount, byPosition, analysis.column(front, k) * rhsCount, rhsCount);
    }
  }
}
