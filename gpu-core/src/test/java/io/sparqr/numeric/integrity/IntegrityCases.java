/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.integrity;

import io.sparqr.numeric.ColumnNorms;
import io.sparqr.numeric.ContributionBlock;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.RowBlock;
import io.sparqr.numeric.RowSplit;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.TestMatrices;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

/** Random problems as one task, of every kind that the check must accept. */
final class IntegrityCases {

  /**
   * A problem.
   *
   * @param name what it is, with its seed
   */
  record Case(String name, SubtreeProblem problem, double tolerance) {}

  private IntegrityCases() {}

  /** The problem with this seed. */
  static Case random(long seed) {
    var random = new Random(seed);
    int n = 1 + random.nextInt(60);
    int m = random.nextInt(8) == 0 ? n * (4 + random.nextInt(20)) : 1 + random.nextInt(3 * n);
    CsrMatrix a;
    String kind;
    switch (random.nextInt(6)) {
      case 0 -> {
        a = TestMatrices.dense(m, n, random);
        kind = "dense";
      }
      case 1 -> {
        a = TestMatrices.ofRank(m, n, 1 + random.nextInt(Math.min(m, n)), random);
        kind = "low rank";
      }
      case 2 -> {
        a = TestMatrices.staircase(m, n, random);
        kind = "staircase";
      }
      case 3 -> {
        n = Math.max(n, 2);
        a = TestMatrices.incidence(m, n, random);
        kind = "incidence";
      }
      default -> {
        a = TestMatrices.sparse(m, n, 1 + random.nextInt(Math.min(n, 6)), random);
        kind = "sparse";
      }
    }
    int scaling = random.nextInt(7);
    a = scaled(a, scaling, random);
    int rhs = random.nextInt(4);
    double[] b = TestMatrices.vector(a.rows() * rhs, random);
    String name = "seed %d: %s %d x %d, scaling %d, %d rhs";
    return of(name.formatted(seed, kind, a.rows(), n, scaling, rhs), a, b, rhs, random);
  }

  private static CsrMatrix scaled(CsrMatrix a, int how, Random random) {
    double[] v = a.values().clone();
    double[] column = new double[a.columns()];
    double[] row = new double[a.rows()];
    Arrays.fill(column, 1);
    Arrays.fill(row, 1);
    switch (how) {
      case 1 -> Arrays.setAll(column, j -> Math.pow(10, 20 * random.nextDouble() - 10));
      case 2 -> Arrays.setAll(row, i -> Math.pow(10, 16 * random.nextDouble() - 8));
      case 3 -> Arrays.fill(row, 1e150);
      case 4 -> Arrays.fill(row, 1e-150);
      case 5 -> Arrays.setAll(column, j -> random.nextInt(5) == 0 ? 0 : 1);
      default -> {}
    }
    for (int i = 0; i < a.rows(); i++) {
      for (int k = a.rowStart()[i]; k < a.rowStart()[i + 1]; k++) {
        v[k] *= row[i] * column[a.columnIndex()[k]];
      }
    }
    return new CsrMatrix(a.rows(), a.columns(), a.rowStart(), a.columnIndex(), v);
  }

  /** One task for a matrix, in an order that the random numbers choose. */
  static Case of(String name, CsrMatrix a, double[] b, int rhs, Random random) {
    var options = SymbolicOptions.defaults().withSingletons(false);
    if (random.nextBoolean()) {
      options = options.withOrdering(OrderingMethod.NATURAL);
    }
    SymbolicAnalysis analysis = SymbolicAnalyzer.analyze(a.pattern(), options);
    double[] ones = new double[a.columns()];
    Arrays.fill(ones, 1);
    var norms = new ColumnNorms(a.columns());
    for (int k = 0; k < a.nonzeros(); k++) {
      norms.add(a.columnIndex()[k], a.values()[k]);
    }
    int[] fronts = new int[analysis.fronts()];
    Arrays.setAll(fronts, f -> f);
    RowBlock rows = RowSplit.of(a, b, rhs, analysis, ones).rows();
    double tolerance =
        random.nextInt(5) == 0
            ? -1
            : FactorOptions.defaultTolerance(a.rows(), a.columns(), norms.max());
    return new Case(name, new SubtreeProblem(analysis, fronts, rows, List.of()), tolerance);
  }

  /** The part of a problem in fronts [from, to), with blocks from below. */
  static SubtreeProblem part(SubtreeProblem whole, int from, int to, List<ContributionBlock> in) {
    RowBlock r = whole.rows();
    int[] which =
        IntStream.range(0, r.rows())
            .filter(i -> r.front()[i] >= from && r.front()[i] < to)
            .toArray();
    return new SubtreeProblem(
        whole.analysis(), IntStream.range(from, to).toArray(), rows(r, which), in);
  }

  /** Some rows, any of them several times. */
  static RowBlock rows(RowBlock r, int[] which) {
    int rhs = r.rhsCount();
    int[] start = new int[which.length + 1];
    for (int k = 0; k < which.length; k++) {
      start[k + 1] = start[k] + r.rowStart()[which[k] + 1] - r.rowStart()[which[k]];
    }
    int n = which.length;
    int nz = start[n];
    var some =
        new RowBlock(new int[n], start, new int[nz], new double[nz], new double[n * rhs], rhs);
    for (int k = 0; k < n; k++) {
      int from = r.rowStart()[which[k]];
      int count = start[k + 1] - start[k];
      some.front()[k] = r.front()[which[k]];
      System.arraycopy(r.position(), from, some.position(), start[k], count);
      System.arraycopy(r.value(), from, some.value(), start[k], count);
      System.arraycopy(r.rhs(), which[k] * rhs, some.rhs(), k * rhs, rhs);
    }
    return some;
  }
}
