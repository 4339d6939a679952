/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.Arrays;
import java.util.List;

/**
 * A S P = Q R on one machine: the singletons' rows, the fronts' rows of R and of Q'b. S = diag of
 * {@code factors} (columns equilibrated).
 *
 * @param analysis what was known before
 * @param factors size n, by original column
 * @param singletons first rows of R
 * @param fronts rows of R, one entry a front of the analysis, ascending
 * @param residualSquares size rhsCount
 * @param rankTolerance that was used, on the scaled columns
 * @param summary what was done
 */
public record NumericFactorization(
    SymbolicAnalysis analysis,
    double[] factors,
    SingletonRows singletons,
    List<FrontFactor> fronts,
    double[] residualSquares,
    double rankTolerance,
    FactorSummary summary) {

  /** Live pivots, the singletons included. */
  public int rank() {
    int rank = singletons.count();
    for (FrontFactor f : fronts) {
      rank += f.rank();
    }
    return rank;
  }

  /** Original indices of the columns without a pivot, ascending: their x is 0. */
  public int[] deadColumns() {
    int[] dead = new int[analysis.columns() - rank()];
    int count = 0;
    for (FrontFactor f : fronts) {
      int next = 0;
      for (int k = 0; k < analysis.fp(f.front()); k++) {
        if (next < f.rank() && f.livePivot()[next] == k) {
          next++;
        } else {
          dead[count++] = analysis.permutation().original(analysis.column(f.front(), k));
        }
      }
    }
    Arrays.sort(dead);
    return dead;
  }

  /** The basic solution for the right-hand sides carried along: n x rhsCount, row-major. */
  public double[] solve() {
    int nrhs = singletons.rhsCount();
    double[] y = new double[Math.multiplyExact(analysis.columns(), nrhs)];
    var local = new double[largestFront() * nrhs];
    for (int f = fronts.size() - 1; f >= 0; f--) {
      backSubstitute(fronts.get(f), fronts.get(f).rhs(), nrhs, y, local);
    }
    singletons.backSubstitute(singletons.rhs(), y, nrhs);
    return unscale(y, nrhs);
  }

  /**
   * Solves R'R y = c, the semi-normal equations for one right-hand side: x = S P y with c = P'S
   * A'b. Dead columns give 0.
   *
   * @param atb size n: A'b by original column
   * @return x, size n
   */
  public double[] solveSemiNormal(double[] atb) {
    int n = analysis.columns();
    double[] c = new double[n];
    for (int p = 0; p < n; p++) {
      int j = analysis.permutation().original(p);
      c[p] = atb[j] * factors[j];
    }
    double[] z1 = new double[singletons.count()];
    singletons.forwardSubstitute(c, z1, 1);
    double[] local = new double[largestFront()];
    double[][] z = new double[fronts.size()][];
    for (int i = 0; i < z.length; i++) {
      FrontFactor f = fronts.get(i);
      z[i] = new double[f.rank()];
      FrontSolve.gather(analysis, f.front(), 1, c, local);
      FrontSolve.forwardSubstitute(f, 1, local, z[i]);
      FrontSolve.scatter(analysis, f.front(), 1, local, c, analysis.fp(f.front()), f.fn());
    }
    double[] y = new double[n];
    for (int i = z.length - 1; i >= 0; i--) {
      backSubstitute(fronts.get(i), z[i], 1, y, local);
    }
    singletons.backSubstitute(z1, y, 1);
    return unscale(y, 1);
  }

  private void backSubstitute(FrontFactor f, double[] rhs, int nrhs, double[] y, double[] local) {
    int fp = analysis.fp(f.front());
    FrontSolve.gather(analysis, f.front(), nrhs, y, local);
    FrontSolve.backSubstitute(f, rhs, nrhs, local, fp);
    FrontSolve.scatter(analysis, f.front(), nrhs, local, y, 0, fp);
  }

  private int largestFront() {
    return fronts.stream().mapToInt(FrontFactor::fn).max().orElse(0);
  }

  private double[] unscale(double[] y, int nrhs) {
    double[] x = new double[y.length];
    for (int p = 0; p < analysis.columns(); p++) {
      int j = analysis.permutation().original(p);
      for (int q = 0; q < nrhs; q++) {
        x[j * nrhs + q] = y[p * nrhs + q] * factors[j];
      }
    }
    return x;
  }
}
