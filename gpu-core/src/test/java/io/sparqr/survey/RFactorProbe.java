/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.survey;

import io.sparqr.numeric.FrontFactor;
import io.sparqr.numeric.NumericFactorization;
import io.sparqr.numeric.Tolerances;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.stream.IntStream;

/**
 * R and Q'b against A and b themselves, without any of the product's own sums. With W the live
 * columns of A S and a random u, one number a column:
 *
 * <pre>
 *   | w_j'(W u) - r_j'(R u) | / (||w_j|| (||W u|| + sqrt(live)))
 *   | w_j'b - r_j'(Q'b) |     / (||w_j|| ||b||)
 * </pre>
 *
 * <p>R and Q'b are exactly those of W + dW and b + db with ||dw_j|| of c eps ||w_j|| (Higham 2002,
 * theorem 19.4), so that both are c eps; entries of u are 1 / ||w_j|| in size, signs random. All
 * products in twice the working precision. 4 flops an entry of R, by the common pool.
 *
 * @param gram the first, its largest value in units of eps; NaN if any is
 * @param rightHandSide the second
 */
record RFactorProbe(double gram, double rightHandSide) {

  static RFactorProbe of(CsrMatrix a, double[] b, NumericFactorization f, SplitMix random) {
    SymbolicAnalysis analysis = f.analysis();
    int n = a.columns();
    double[] norm = Tolerances.columnNorms(a);
    boolean[] live = live(f);
    double[] u = new double[n];
    double[] byColumn = new double[n];
    int count = 0;
    for (int p = 0; p < n; p++) {
      int j = analysis.permutation().original(p);
      double v = random.value();
      if (live[p]) {
        u[p] = v / (norm[j] * f.factors()[j]);
        byColumn[j] = f.factors()[j] * u[p];
        count++;
      }
    }
    double[] t = Compensated.residual(a, byColumn, null);
    double[] gram = Compensated.transposed(a, t);
    double[] product = Compensated.transposed(a, b);
    var withR = new Compensated.Sums(n);
    var withRhs = new Compensated.Sums(n);
    IntStream.range(0, f.fronts().size())
        .parallel()
        .forEach(i -> front(analysis, f.fronts().get(i), u, withR, withRhs));
    double weight = Compensated.norm(t) + Math.sqrt(count);
    double normB = Compensated.norm(b);
    double worst = 0;
    double worstRhs = 0;
    for (int p = 0; p < n; p++) {
      int j = analysis.permutation().original(p);
      if (live[p]) {
        double scale = norm[j] * f.factors()[j];
        double d = f.factors()[j] * gram[j] - withR.get(p);
        double e = f.factors()[j] * product[j] - withRhs.get(p);
        // Math.max keeps NaN
        worst = Math.max(worst, Math.abs(d) / (scale * weight));
        worstRhs = Math.max(worstRhs, normB == 0 ? Math.abs(e) : Math.abs(e) / (scale * normB));
      }
    }
    return new RFactorProbe(worst / Tolerances.EPS, worstRhs / Tolerances.EPS);
  }

  private static boolean[] live(NumericFactorization f) {
    boolean[] live = new boolean[f.analysis().columns()];
    for (FrontFactor front : f.fronts()) {
      for (int k : front.livePivot()) {
        live[f.analysis().column(front.front(), k)] = true;
      }
    }
    return live;
  }

  /** Adds R'(R u) and R'(Q'b) of one front's rows. */
  private static void front(
      SymbolicAnalysis analysis,
      FrontFactor f,
      double[] u,
      Compensated.Sums withR,
      Compensated.Sums withRhs) {
    int fn = f.fn();
    double[] local = new double[fn];
    for (int k = 0; k < fn; k++) {
      local[k] = u[analysis.column(f.front(), k)];
    }
    var w = new Compensated.Sums(f.rank());
    var rw = new Compensated.Sums(fn);
    var rc = new Compensated.Sums(fn);
    int at = 0;
    for (int i = 0; i < f.rank(); i++) {
      int k = f.livePivot()[i];
      for (int j = k; j < fn; j++) {
        w.add(i, f.values().get(at + j - k), local[j]);
      }
      double wi = w.get(i);
      for (int j = k; j < fn; j++) {
        rw.add(j, f.values().get(at + j - k), wi);
        rc.add(j, f.values().get(at + j - k), f.rhs()[i]);
      }
      at += fn - k;
    }
    synchronized (withR) {
      for (int k = 0; k < fn; k++) {
        withR.addSum(analysis.column(f.front(), k), rw, k);
        withRhs.addSum(analysis.column(f.front(), k), rc, k);
      }
    }
  }
}
