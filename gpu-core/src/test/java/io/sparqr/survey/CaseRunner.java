/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.survey;

import io.sparqr.numeric.ColumnNorms;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.NumericFactorization;
import io.sparqr.numeric.RowSplit;
import io.sparqr.numeric.SingletonRows;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeFactorizer;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.sparse.SparsityPattern;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import java.util.Arrays;
import java.util.List;

/**
 * Runs problems one at a time and keeps nothing but the last analysis: the whole tree one task,
 * factored by the backend through its checks, solved on the host, measured; then by another backend
 * to compare with.
 */
class CaseRunner implements AutoCloseable {

  private final SubtreeFactorizer backend;
  private final SubtreeFactorizer other;
  private final double mostFlopsOfOther;
  private SymbolicAnalysis last;
  private String lastOrder = "";

  /**
   * A runner.
   *
   * @param backend closed with this
   * @param other to compare with; closed with this
   * @param mostFlopsOfOther larger problems are not compared
   */
  CaseRunner(SubtreeFactorizer backend, SubtreeFactorizer other, double mostFlopsOfOther) {
    this.backend = backend;
    this.other = other;
    this.mostFlopsOfOther = mostFlopsOfOther;
  }

  /** The analysis of a pattern; the last one's again if it is the same. */
  SymbolicAnalysis analyze(SurveyCase c, CsrMatrix a) {
    SparsityPattern pattern = a.pattern();
    if (last == null || !lastOrder.equals(c.order().label()) || !last.isOf(pattern)) {
      last = null;
      lastOrder = c.order().label();
      last =
          SymbolicAnalyzer.analyze(
              pattern, SymbolicOptions.defaults().withSingletons(false).withOrdering(c.order()));
    }
    return last;
  }

  /** Bytes of R: what the host needs at least. */
  static double bytesOfR(SymbolicAnalysis analysis) {
    double bytes = 0;
    for (int f = 0; f < analysis.fronts(); f++) {
      bytes += 8.0 * analysis.fp(f) * (analysis.fn(f) - (analysis.fp(f) - 1) / 2.0);
    }
    return bytes;
  }

  /** Factors, solves, measures, compares. */
  Outcome run(SurveyCase c) {
    SurveyCase.Instance instance = c.generate();
    CsrMatrix a = instance.a();
    long t0 = System.nanoTime();
    SymbolicAnalysis analysis = analyze(c, a);
    double analyzeSeconds = seconds(t0);
    double needed = 1.2 * bytesOfR(analysis) + 60.0 * a.nonzeros();
    double heap = Runtime.getRuntime().maxMemory();
    if (needed > heap) {
      return Outcome.notRun(
          c, "needs about %.0f GB of a heap of %.0f".formatted(needed * 1e-9, heap * 1e-9));
    }
    var norms = new ColumnNorms(a.columns());
    for (int k = 0; k < a.nonzeros(); k++) {
      norms.add(a.columnIndex()[k], a.values()[k]);
    }
    double[] factors = norms.factors();
    if (c.is("raw")) {
      Arrays.fill(factors, 1);
    }
    double largest = c.is("raw") ? norms.max() : Math.min(norms.max(), 1);
    double tolerance =
        c.is("norank") ? -1 : FactorOptions.defaultTolerance(a.rows(), a.columns(), largest);
    var options =
        new FactorOptions(tolerance, Runtime.getRuntime().availableProcessors(), 0)
            .ofUnitColumns(!c.is("raw"));
    RowSplit split = RowSplit.of(a, instance.b(), 1, analysis, factors);
    int[] fronts = new int[analysis.fronts()];
    Arrays.setAll(fronts, f -> f);
    var problem = new SubtreeProblem(analysis, fronts, split.rows(), List.of());
    t0 = System.nanoTime();
    NumericFactorization f =
        factorization(problem, factors, split, tolerance, backend.factor(problem, options));
    double factorSeconds = seconds(t0);
    double[] x = solve(f);
    Figures figures = Figures.of(a, instance.b(), f, x);
    boolean compares = analysis.flops() <= mostFlopsOfOther;
    var outcome =
        new Outcome(c, instance, f, figures, analyzeSeconds, factorSeconds, other.description());
    outcome.judge();
    if (compares) {
      double dropped = Figures.dropped(f);
      t0 = System.nanoTime();
      f =
          factorization(
              problem, factors, split, tolerance, other.factor(problem, options.safely()));
      outcome.compare(f, dropped, seconds(t0));
    }
    return outcome;
  }

  /** The basic solution by back substitution. */
  double[] solve(NumericFactorization f) {
    return f.solve();
  }

  private static NumericFactorization factorization(
      SubtreeProblem problem,
      double[] factors,
      RowSplit split,
      double tolerance,
      SubtreeFactor factor) {
    var none = new SingletonRows(new int[1], new int[0], new double[0], new double[0], 1);
    double[] squares = {factor.residualSquares()[0] + split.residualSquares()[0]};
    return new NumericFactorization(
        problem.analysis(), factors, none, factor.fronts(), squares, tolerance, factor.summary());
  }

  private static double seconds(long since) {
    return (System.nanoTime() - since) * 1e-9;
  }

  @Override
  public void close() {
    try {
      backend.close();
    } finally {
      other.close();
    }
  }
}
