/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import io.sparqr.sparse.CsrMatrix;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalDouble;
import java.util.stream.IntStream;

/** min ||b - Ax|| in one JVM, the whole tree one task: for tests, benchmarks, small problems. */
public final class LocalSolver {

  private final SubtreeFactorizer factorizer;
  private final SymbolicOptions symbolic;
  private final OptionalDouble rankTolerance;
  private final boolean equilibrate;
  private final int threads;

  /**
   * A solver.
   *
   * @param factorizer owned by the caller
   * @param symbolic order and analysis
   * @param rankTolerance on the columns as factored; empty: {@link FactorOptions#defaultTolerance};
   *     negative: no detection
   * @param equilibrate whether columns are scaled to unit 2-norm
   * @param threads at least 1
   */
  public LocalSolver(
      SubtreeFactorizer factorizer,
      SymbolicOptions symbolic,
      OptionalDouble rankTolerance,
      boolean equilibrate,
      int threads) {
    this.factorizer = factorizer;
    this.symbolic = symbolic;
    this.rankTolerance = rankTolerance;
    this.equilibrate = equilibrate;
    this.threads = threads;
  }

  /** A solver with default tolerance and equilibrated columns. */
  public LocalSolver(SubtreeFactorizer factorizer, SymbolicOptions symbolic, int threads) {
    this(factorizer, symbolic, OptionalDouble.empty(), true, threads);
  }

  /**
   * Result.
   *
   * @param factorization R and Q'b; its right-hand sides are scaled, see {@code x} for the answer
   * @param x n x rhsCount, row-major
   * @param residualNorm size rhsCount: ||b - Ax|| from the tail of Q'b
   */
  public record Solution(NumericFactorization factorization, double[] x, double[] residualNorm) {}

  /** Analyzes, factors, solves; analyzes again if a singleton's pivot is tiny. */
  public Solution solve(CsrMatrix a, double[] b, int rhsCount) {
    SymbolicOptions options = symbolic.withRhs(rhsCount);
    while (true) {
      SymbolicAnalysis analysis = SymbolicAnalyzer.analyze(a.pattern(), options);
      Prepared prepared = prepare(a, b, rhsCount, analysis);
      int[] tiny = prepared.split.singletons().tinyPivots(prepared.tolerance);
      if (tiny.length == 0) {
        return finish(prepared, rhsCount);
      }
      IntStream columns = Arrays.stream(tiny).map(analysis.permutation()::original);
      int[] excluded =
          IntStream.concat(columns, Arrays.stream(options.notSingletons()))
              .sorted()
              .distinct()
              .toArray();
      options = options.withNotSingletons(excluded);
    }
  }

  /** Factors and solves with a given analysis, and does not question its singletons. */
  public Solution solve(CsrMatrix a, double[] b, int rhsCount, SymbolicAnalysis analysis) {
    return finish(prepare(a, b, rhsCount, analysis), rhsCount);
  }

  private record Prepared(
      SymbolicAnalysis analysis,
      double[] factors,
      double[] rhsScale,
      RowSplit split,
      double tolerance) {}

  private Prepared prepare(CsrMatrix a, double[] b, int rhsCount, SymbolicAnalysis analysis) {
    var norms = new ColumnNorms(a.columns());
    for (int k = 0; k < a.nonzeros(); k++) {
      norms.add(a.columnIndex()[k], a.values()[k]);
    }
    double[] factors = norms.factors();
    double largest = Math.min(norms.max(), 1);
    if (!equilibrate) {
      Arrays.fill(factors, 1);
      largest = norms.max();
    } else if (norms.max() > 0) {
      largest = 1;
    }
    double tolerance =
        rankTolerance.orElse(FactorOptions.defaultTolerance(a.rows(), a.columns(), largest));
    double[] scale = rhsScale(b, rhsCount);
    double[] scaled = new double[b.length];
    for (int i = 0; i < b.length; i++) {
      scaled[i] = b[i] * scale[i % rhsCount];
    }
    RowSplit split = RowSplit.of(a, scaled, rhsCount, analysis, factors);
    return new Prepared(analysis, factors, scale, split, tolerance);
  }

  /** Powers of two that bring each right-hand side near 1, so that its squares are in range. */
  private static double[] rhsScale(double[] b, int rhsCount) {
    double[] scale = new double[rhsCount];
    for (int i = 0; i < b.length; i++) {
      scale[i % rhsCount] = Math.max(scale[i % rhsCount], Math.abs(b[i]));
    }
    for (int q = 0; q < rhsCount; q++) {
      int e = scale[q] == 0 || Double.isInfinite(scale[q]) ? 0 : Math.getExponent(scale[q]);
      scale[q] = Math.scalb(1.0, -Math.max(Math.min(e, 1022), -1022));
    }
    return scale;
  }

  private Solution finish(Prepared prepared, int rhsCount) {
    SymbolicAnalysis analysis = prepared.analysis;
    int[] all = IntStream.range(0, analysis.fronts()).toArray();
    var problem = new SubtreeProblem(analysis, all, prepared.split.rows(), List.of());
    SubtreeFactor factor =
        factorizer.factor(problem, new FactorOptions(prepared.tolerance, threads, 0));
    double[] squares = factor.residualSquares().clone();
    double[] norm = new double[rhsCount];
    for (int q = 0; q < rhsCount; q++) {
      squares[q] += prepared.split.residualSquares()[q];
      norm[q] = Math.sqrt(squares[q]) / prepared.rhsScale[q];
    }
    var factorization =
        new NumericFactorization(
            analysis,
            prepared.factors,
            prepared.split.singletons(),
            factor.fronts(),
            squares,
            prepared.tolerance,
            factor.summary());
    double[] x = factorization.solve();
    for (int i = 0; i < x.length; i++) {
      x[i] /= prepared.rhsScale[i % rhsCount];
    }
    return new Solution(factorization, x, norm);
  }
}
