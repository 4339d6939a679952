/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.ordering.dissection.NestedDissection;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.IntUnaryOperator;

/** A matrix, right-hand sides and an analysis, with all properties that their QR must have. */
final class ContractCase {

  final String name;
  final CsrMatrix a;
  final double[] b;
  final int nrhs;
  final SymbolicAnalysis analysis;
  final double tolerance;

  ContractCase(String name, CsrMatrix a, double[] b, int nrhs, SymbolicOptions options) {
    this.name = name;
    this.a = a;
    this.b = b;
    this.nrhs = nrhs;
    this.analysis = SymbolicAnalyzer.analyze(a.pattern(), options.withSingletons(false));
    var norms = new ColumnNorms(a.columns());
    for (int k = 0; k < a.nonzeros(); k++) {
      norms.add(a.columnIndex()[k], a.values()[k]);
    }
    this.tolerance = FactorOptions.defaultTolerance(a.rows(), a.columns(), norms.max());
  }

  static ContractCase natural(String name, CsrMatrix a, double[] b, int nrhs) {
    var options =
        SymbolicOptions.defaults().withOrdering(io.sparqr.ordering.OrderingMethod.NATURAL);
    return new ContractCase(name, a, b, nrhs, options);
  }

  static ContractCase dissected(String name, CsrMatrix a, double[] b, int nrhs) {
    var options = SymbolicOptions.defaults().withGiven(new NestedDissection().order(a.pattern()));
    return new ContractCase(name, a, b, nrhs, options);
  }

  double[] ones() {
    double[] factors = new double[a.columns()];
    Arrays.fill(factors, 1);
    return factors;
  }

  RowSplit split() {
    return RowSplit.of(a, b, nrhs, analysis, ones());
  }

  TaskRun run(SubtreeFactorizer backend, int[] taskOf, int threads) {
    RowSplit split = split();
    var run =
        TaskRun.run(
            backend, analysis, split.rows(), taskOf, new FactorOptions(tolerance, threads, 0));
    for (int q = 0; q < nrhs; q++) {
      run.residualSquares[q] += split.residualSquares()[q];
    }
    return run;
  }

  /**
   * Factors with Q kept: the same pivots are live as without, and the reflectors turn the same
   * right-hand sides, and others, into what carrying them along gives.
   */
  void verifyKeptQ(SubtreeFactorizer backend, int[] taskOf, int threads) {
    RowBlock rows = split().rows();
    var plain = TaskRun.run(backend, analysis, rows, taskOf, options(threads, false));
    var kept = TaskRun.run(backend, analysis, rows, taskOf, options(threads, true));
    for (int f = 0; f < analysis.fronts(); f++) {
      assertThat(kept.fronts.get(f).livePivot()).isEqualTo(plain.fronts.get(f).livePivot());
    }
    assertThat(plain.factors).allMatch(f -> f.reflectors().isEmpty());
    checkReflected(kept, rows, taskOf, kept);
    double[] other = TestMatrices.vector(5 * a.rows(), new java.util.Random(a.rows() + 31L));
    RowBlock otherRows = RowSplit.of(a, other, 5, analysis, ones()).rows();
    var carried = TaskRun.run(backend, analysis, otherRows, taskOf, options(threads, true));
    checkReflected(kept, otherRows, taskOf, carried);
  }

  /**
   * Factors for x alone, and checks that x solves R x = Q'b as well as back substitution does.
   *
   * @return whether the backend solved; otherwise it returned R
   */
  boolean verifySolution(SubtreeFactorizer backend, int threads) {
    RowBlock rows = split().rows();
    int[] whole = TaskRun.whole(analysis);
    var r = TaskRun.run(backend, analysis, rows, whole, options(threads, false));
    var only = options(threads, false).forSolution(true);
    SubtreeFactor factor = backend.factor(r.problems.get(0), only);
    assertThat(factor.residualSquares()).isEqualTo(r.factors.get(0).residualSquares());
    assertThat(factor.summary().rank()).isEqualTo(r.summary.rank());
    if (factor.solution().isEmpty()) {
      assertThat(factor.fronts()).as("%s: R", name).hasSize(analysis.fronts());
      return false;
    }
    assertThat(factor.fronts()).isEmpty();
    long entries = verifyStored(r.fronts, factor.solution().get().x(), p -> p);
    assertThat(factor.solution().get().entries()).as("%s: entries", name).isEqualTo(entries);
    return true;
  }

  /**
   * Compares R x with Q'b and the probe, row by row; returns the entries of R.
   *
   * @param number of a position in its task, for the probe
   */
  private long verifyStored(List<FrontFactor> fronts, double[] x, IntUnaryOperator number) {
    int width = nrhs + Probe.COUNT;
    assertThat(x).hasSize(a.columns() * width);
    long entries = 0;
    for (FrontFactor f : fronts) {
      entries += f.length();
      int at = 0;
      for (int i = 0; i < f.rank(); i++) {
        int pivot = analysis.firstPivot(f.front()) + f.livePivot()[i];
        for (int q = 0; q < width; q++) {
          double left = q < nrhs ? f.rhs()[i * nrhs + q] : Probe.value(number.applyAsInt(pivot));
          double size = Math.abs(left);
          for (int k = f.livePivot()[i]; k < f.fn(); k++) {
            double v =
                f.values().get(at + k - f.livePivot()[i])
                    * x[analysis.column(f.front(), k) * width + q];
            left -= v;
            size += Math.abs(v);
          }
          Tolerances.require(
              Math.abs(left),
              (f.fn() + 8) * Math.ulp(1.0) * size,
              "%s: row %d of front %d, right-hand side %d",
              name,
              i,
              f.front(),
              q);
        }
        at += f.fn() - f.livePivot()[i];
      }
    }
    return entries;
  }

  /**
   * Later solves R'R x = c with the R that stayed on the backend: the same bits each time, as many
   * right-hand sides as wanted, and the backward error of two triangular solves with the R that was
   * returned; none after the R is closed.
   *
   * @return whether R has stayed
   */
  boolean verifyLater(SubtreeFactorizer backend, int threads, int width, Random random) {
    RowBlock rows = split().rows();
    int[] whole = TaskRun.whole(analysis);
    var r = TaskRun.run(backend, analysis, rows, whole, options(threads, false));
    SubtreeFactor factor = backend.factor(r.problems.get(0), options(threads, false).staying(true));
    assertThat(factor.fronts()).as("%s: R", name).hasSize(analysis.fronts());
    if (factor.residence().factor().isEmpty()) {
      return false;
    }
    ResidentFactor stayed = factor.residence().factor().get();
    for (int w : new int[] {1, width, 1}) {
      double[] c = TestMatrices.vector(a.columns() * w, random);
      double[] x = stayed.solve(c, w).orElseThrow();
      assertThat(stayed.solve(c, w).orElseThrow()).as("%s: again", name).isEqualTo(x);
      verifyNormal(factor.fronts(), c, x, w);
    }
    if (nrhs > 0) {
      double[] x = stayed.solveStored(new double[0]).orElseThrow();
      assertThat(stayed.solveStored(new double[0]).orElseThrow())
          .as("%s: again", name)
          .isEqualTo(x);
      verifyStored(factor.fronts(), x, p -> p);
    }
    stayed.close();
    assertThat(stayed.solveStored(new double[0])).as("%s: closed", name).isEmpty();
    assertThat(stayed.solve(new double[a.columns()], 1)).as("%s: closed", name).isEmpty();
    return true;
  }

  /**
   * The same with R in several tasks, beside the rows returned and alone: the same blocks and rows
   * as without, solves up the tree and down.
   *
   * @return the number of tasks that are no whole trees; -1: R of some task has not stayed
   */
  long verifyLaterInTasks(SubtreeFactorizer backend, int[] taskOf, int width, Random random) {
    RowBlock rows = split().rows();
    FactorOptions options = options(2, false);
    var plain = TaskRun.run(backend, analysis, rows, taskOf, options);
    long parts = -1;
    double[] c = TestMatrices.vector(a.columns() * width, random);
    double[] x = null;
    for (boolean alone : new boolean[] {false, true}) {
      var r = TaskRun.run(backend, analysis, rows, taskOf, options.staying(true).alone(alone));
      var solves = new SolvesInTasks(r);
      if (!solves.stayed()) {
        solves.close();
        return -1;
      }
      assertThat(r.residualSquares).as("%s: residual", name).isEqualTo(plain.residualSquares);
      assertThat(r.summary.rank()).isEqualTo(plain.summary.rank());
      List<List<FrontFactor>> fetched = solves.fetched(2);
      for (int t = 0; t < fetched.size(); t++) {
        FrontFactors.requireSame(fetched.get(t), plain.factors.get(t).fronts());
      }
      double[] found = solves.normal(c, width);
      verifyNormal(plain.fronts, c, found, width);
      x = x == null ? found : x;
      assertThat(found).as("%s: alone", name).isEqualTo(x);
      if (nrhs > 0) {
        verifyStored(plain.fronts, solves.stored(nrhs + Probe.COUNT), solves::number);
      }
      parts = solves.parts();
      solves.close();
    }
    return parts;
  }

  /** Compares c with R'(R x), relative to the sizes of its terms. */
  private void verifyNormal(List<FrontFactor> fronts, double[] c, double[] x, int width) {
    double[] product = new double[c.length];
    double[] size = new double[c.length];
    int widest = 0;
    for (FrontFactor f : fronts) {
      widest = Math.max(widest, f.fn());
      int at = 0;
      for (int live : f.livePivot()) {
        for (int q = 0; q < width; q++) {
          double y = 0;
          double sizeOfY = 0;
          for (int k = live; k < f.fn(); k++) {
            double v = f.values().get(at + k - live) * x[analysis.column(f.front(), k) * width + q];
            y += v;
            sizeOfY += Math.abs(v);
          }
          for (int k = live; k < f.fn(); k++) {
            int j = analysis.column(f.front(), k) * width + q;
            product[j] += f.values().get(at + k - live) * y;
            size[j] += Math.abs(f.values().get(at + k - live)) * sizeOfY;
          }
        }
        at += f.fn() - live;
      }
    }
    for (int j = 0; j < c.length; j++) {
      Tolerances.require(
          Math.abs(c[j] - product[j]),
          4 * (widest + 8) * Math.ulp(1.0) * size[j],
          "%s: equation %d of %d right-hand sides",
          name,
          j / width,
          width);
    }
  }

  /** One task for all, Q kept. */
  TaskRun keeping(SubtreeFactorizer backend, int threads) {
    return TaskRun.run(
        backend, analysis, split().rows(), TaskRun.whole(analysis), options(threads, true));
  }

  private FactorOptions options(int threads, boolean keepQ) {
    return new FactorOptions(tolerance, threads, 0, keepQ);
  }

  /** Q'b by the reflectors of {@code kept} against Q'b as it was carried along. */
  private void checkReflected(TaskRun kept, RowBlock rows, int[] taskOf, TaskRun carried) {
    int width = rows.rhsCount();
    double[] norms = new double[width];
    double[] c = kept.reflect(rows, taskOf, norms);
    double[] expected = new double[c.length];
    for (FrontFactor f : carried.fronts) {
      for (int i = 0; i < f.rank(); i++) {
        int p = analysis.firstPivot(f.front()) + f.livePivot()[i];
        System.arraycopy(f.rhs(), i * width, expected, p * width, width);
      }
    }
    double norm = Tolerances.norm(rows.rhs(), rows.rows() * width);
    double limit = Tolerances.of(a.rows(), a.columns(), norm);
    for (int i = 0; i < c.length; i++) {
      Tolerances.require(
          Math.abs(c[i] - expected[i]),
          limit,
          "%s: Q'b at position %d of right-hand side %d",
          name,
          i / width,
          i % width);
    }
    for (int q = 0; q < width; q++) {
      assertThat(norms[q])
          .as("%s: residual norm of right-hand side %d", name, q)
          .isCloseTo(
              Math.sqrt(carried.residualSquares[q]), org.assertj.core.api.Assertions.within(limit));
    }
  }

  /** Checks the defining equations; {@code rank} negative: not checked. Returns x. */
  double[] verify(TaskRun run, int rank) {
    int m = a.rows();
    int n = a.columns();
    double norm = Tolerances.frobenius(a);
    double[][] r = run.denseR();
    checkShape(run);
    checkGram(r, norm);
    var factorization = run.factorization(ones(), tolerance, nrhs);
    if (rank >= 0) {
      assertThat(factorization.rank()).as("%s: rank", name).isEqualTo(rank);
      assertThat(factorization.deadColumns()).as("%s: dead", name).hasSize(n - rank);
    }
    double[] x = factorization.solve();
    for (int q = 0; q < nrhs; q++) {
      double[] xq = column(x, q);
      double[] bq = column(b, q);
      double[] residual = a.multiply(xq);
      for (int i = 0; i < m; i++) {
        residual[i] = bq[i] - residual[i];
      }
      if (factorization.rank() == n) {
        assertThat(Tolerances.backwardError(a, bq, xq))
            .as("%s: A'r column by column in units of eps, right-hand side %d", name, q)
            .isLessThanOrEqualTo(Tolerances.UNITS);
      }
      double normB = Tolerances.norm(bq) + norm * Tolerances.norm(xq);
      double limit = Tolerances.ofProduct(m, n, norm, normB);
      assertThat(Tolerances.norm(a.multiplyTransposed(residual)))
          .as("%s: A'r, right-hand side %d", name, q)
          .isLessThanOrEqualTo(limit);
      double size = Tolerances.size(a, bq, xq);
      assertThat(Math.sqrt(run.residualSquares[q]))
          .as("%s: residual norm, right-hand side %d", name, q)
          .isCloseTo(
              Tolerances.norm(residual),
              org.assertj.core.api.Assertions.within(
                  Tolerances.ofResidual(Tolerances.norm(residual), size)));
    }
    return x;
  }

  private void checkShape(TaskRun run) {
    assertThat(run.fronts).as("%s: fronts", name).hasSize(analysis.fronts());
    for (FrontFactor f : run.fronts) {
      int at = 0;
      int last = -1;
      for (int k : f.livePivot()) {
        assertThat(k).as("%s: pivots of front %d", name, f.front()).isGreaterThan(last);
        assertThat(k).isLessThan(analysis.fp(f.front()));
        assertThat(f.values().get(at)).as("%s: diagonal of front %d", name, f.front()).isPositive();
        at += f.fn() - k;
        last = k;
      }
    }
  }

  /**
   * Rows whose products have a sum of their own: in a single sum of all rows rounding errors would
   * grow.
   */
  private static final int GRAM_ROWS = 256;

  private void addGram(double[][] gram, int from, int to) {
    double[][] some = new double[gram.length][gram.length];
    int[] position = analysis.permutation().inverseArray();
    int[] column = a.columnIndex();
    double[] value = a.values();
    for (int i = from; i < to; i++) {
      int first = a.rowStart()[i];
      int end = a.rowStart()[i + 1];
      for (int k = first; k < end; k++) {
        double[] sums = some[position[column[k]]];
        for (int l = first; l < end; l++) {
          sums[position[column[l]]] += value[k] * value[l];
        }
      }
    }
    for (int p = 0; p < gram.length; p++) {
      for (int s = 0; s < gram.length; s++) {
        gram[p][s] += some[p][s];
      }
    }
  }

  /** R'R = P'A'AP. */
  void checkGram(double[][] r, double norm) {
    int n = a.columns();
    double[][] gram = new double[n][n];
    for (int i = 0; i < a.rows(); i += GRAM_ROWS) {
      addGram(gram, i, Math.min(a.rows(), i + GRAM_ROWS));
    }
    for (double[] row : r) {
      int first = 0;
      while (first < n && row[first] == 0) {
        first++;
      }
      for (int i = first; i < n; i++) {
        for (int j = first; j < n; j++) {
          gram[i][j] -= row[i] * row[j];
        }
      }
    }
    double worst = 0;
    for (double[] row : gram) {
      double norm2 = Tolerances.norm(row);
      worst = norm2 > worst || Double.isNaN(norm2) ? norm2 : worst;
    }
    assertThat(worst)
        .as("%s: R'R - P'A'AP", name)
        .isLessThanOrEqualTo(Tolerances.ofProduct(a.rows(), n, norm, norm));
    checkColumns(gram, r);
  }

  /**
   * The same column by column: |R'R - P'A'AP| of i, j is c eps ||a_i|| ||a_j||, and where i or j is
   * dead what rank detection dropped of it, at most the tolerance, times the other.
   */
  private void checkColumns(double[][] difference, double[][] r) {
    double[] norm = Tolerances.columnNorms(a);
    boolean[] dead = new boolean[r.length];
    Arrays.fill(dead, true);
    for (double[] row : r) {
      for (int j = 0; j < row.length; j++) {
        if (row[j] != 0) {
          dead[j] = false;
          break;
        }
      }
    }
    for (int p = 0; p < r.length; p++) {
      double ni = norm[analysis.permutation().original(p)];
      for (int s = 0; s < r.length; s++) {
        double nj = norm[analysis.permutation().original(s)];
        // below, squares are no longer squares
        if (ni > 1e-140 && nj > 1e-140) {
          double dropped = (dead[p] ? tolerance * nj : 0) + (dead[s] ? tolerance * ni : 0);
          Tolerances.require(
              Math.abs(difference[p][s]),
              Tolerances.UNITS * Tolerances.EPS * ni * nj + dropped,
              "%s: R'R - P'A'AP of positions %d, %d",
              name,
              p,
              s);
        }
      }
    }
  }

  private double[] column(double[] x, int q) {
    double[] c = new double[x.length / nrhs];
    for (int i = 0; i < c.length; i++) {
      c[i] = x[i * nrhs + q];
    }
    return c;
  }
}
