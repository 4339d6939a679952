/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import io.sparqr.backend.cpu.CpuSubtreeFactorizer;
import io.sparqr.backend.cpu.GramEverywhere;
import io.sparqr.matrix.MatrixMarket;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.symbolic.SymbolicOptions;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Random;
import java.util.zip.GZIPInputStream;

/**
 * Digits of x with every front tried by its Gram matrix beside those by reflectors: {@code
 * GramAccuracy MOST_GFLOP FILE...} a line a Matrix Market file, or {@code GramAccuracy random
 * COUNT}: small sparse problems with rows graded by up to 1e-16, in one line. The error of x is the
 * largest |a_j'r| / (||a_j|| (||r|| + sum |x_k| ||a_k||)) in eps, r = b - Ax in twice the
 * precision; columns are equilibrated first.
 */
public final class GramAccuracy {

  private static final double EPS = Math.ulp(1.0);

  private GramAccuracy() {}

  /** See the class. */
  public static void main(String[] args) throws IOException {
    try (SubtreeFactorizer gram = GramEverywhere.create();
        SubtreeFactorizer reflectors = new CpuSubtreeFactorizer()) {
      if (args[0].equals("random")) {
        random(Integer.parseInt(args[1]), gram, reflectors);
        return;
      }
      for (int k = 1; k < args.length; k++) {
        String name = Path.of(args[k]).getFileName().toString();
        try {
          line(name, read(Path.of(args[k])), Double.parseDouble(args[0]), gram, reflectors);
        } catch (RuntimeException e) {
          System.out.printf("%-32s %s%n", name, e.getMessage());
        }
      }
    }
  }

  private static CsrMatrix read(Path file) throws IOException {
    try (InputStream in = new BufferedInputStream(Files.newInputStream(file))) {
      boolean packed = file.toString().endsWith(".gz");
      return MatrixMarket.readMatrix(packed ? new GZIPInputStream(in) : in, file.toString());
    }
  }

  private record Solved(double error, long rank, FactorSummary.Gram gram) {}

  private static void line(
      String name, CsrMatrix a, double most, SubtreeFactorizer gram, SubtreeFactorizer reflectors) {
    equilibrate(a);
    var c = new ContractCase(name, a, rhs(a), 1, SymbolicOptions.defaults());
    if (c.analysis.flops() > most * 1e9 || c.analysis.fronts() == 0) {
      System.out.printf(
          Locale.ROOT, "%-32s left out, %.1f Gflop%n", name, c.analysis.flops() / 1e9);
      return;
    }
    Solved by = solve(c, reflectors, false);
    Solved g = solve(c, gram, true);
    System.out.printf(
        Locale.ROOT,
        "%-32s %8d x %8d %8.2f Gflop: %d of %d fronts taken, R %.1f eps; x: %.2f eps, reflectors %.2f%s%n",
        name,
        a.rows(),
        a.columns(),
        c.analysis.flops() / 1e9,
        g.gram.tried() - g.gram.refused(),
        c.analysis.fronts(),
        g.gram.tried() == g.gram.refused() ? 0 : g.gram.error() / EPS,
        g.error / EPS,
        by.error / EPS,
        g.rank == by.rank ? "" : " RANK " + g.rank + " not " + by.rank);
  }

  private static void random(int count, SubtreeFactorizer gram, SubtreeFactorizer reflectors) {
    long taken = 0;
    int ranks = 0;
    double[] worst = new double[3];
    for (int seed = 0; seed < count; seed++) {
      var random = new Random(seed);
      int n = 5 + random.nextInt(60);
      CsrMatrix a =
          TestMatrices.sparse(n + random.nextInt(4 * n), n, 1 + random.nextInt(5), random);
      double spread = Math.pow(10, -16.0 * seed / count);
      for (int i = 0; i < a.rows(); i++) {
        double scale = Math.pow(spread, random.nextDouble());
        for (int k = a.rowStart()[i]; k < a.rowStart()[i + 1]; k++) {
          a.values()[k] *= scale;
        }
      }
      equilibrate(a);
      var c = new ContractCase("seed " + seed, a, rhs(a), 1, SymbolicOptions.defaults());
      Solved by = solve(c, reflectors, false);
      Solved g = solve(c, gram, true);
      taken += g.gram.tried() > g.gram.refused() ? 1 : 0;
      ranks += g.rank == by.rank ? 0 : 1;
      worst[0] = Math.max(worst[0], g.error / EPS);
      worst[1] = Math.max(worst[1], by.error / EPS);
      worst[2] = Math.max(worst[2], g.error / Math.max(by.error, EPS / 4));
    }
    System.out.printf(
        Locale.ROOT,
        "%d random problems, a tree taken in %d, ranks that differ %d; error of x at most %.2f eps, by reflectors %.2f; "
            + "largest ratio of a problem (beside at least eps / 4) %.2f%n",
        count,
        taken,
        ranks,
        worst[0],
        worst[1],
        worst[2]);
  }

  /** Columns of norm 1 to 2, as solves make them. */
  private static void equilibrate(CsrMatrix a) {
    double[] square = new double[a.columns()];
    for (int k = 0; k < a.nonzeros(); k++) {
      square[a.columnIndex()[k]] += a.values()[k] * a.values()[k];
    }
    for (int k = 0; k < a.nonzeros(); k++) {
      int exponent = Math.getExponent(Math.sqrt(square[a.columnIndex()[k]]));
      a.values()[k] = Math.scalb(a.values()[k], -exponent);
    }
  }

  private static double[] rhs(CsrMatrix a) {
    return TestMatrices.vector(a.rows(), new Random(a.rows()));
  }

  private static Solved solve(ContractCase c, SubtreeFactorizer backend, boolean gram) {
    var options = new FactorOptions(c.tolerance, 2, 0).gram(gram);
    int[] whole = TaskRun.whole(c.analysis);
    TaskRun run = TaskRun.run(backend, c.analysis, c.split().rows(), whole, options);
    double[] x = run.factorization(c.ones(), c.tolerance, 1).solve();
    return new Solved(error(c.a, c.b, x), run.summary.rank(), run.summary.gram());
  }

  private static double error(CsrMatrix a, double[] b, double[] x) {
    int n = a.columns();
    double[] norm = new double[n];
    double[] dot = new double[n];
    double[] low = new double[n];
    double square = 0;
    for (int i = 0; i < a.rows(); i++) {
      double high = b[i];
      double rest = 0;
      for (int k = a.rowStart()[i]; k < a.rowStart()[i + 1]; k++) {
        double v = -a.values()[k];
        double p = v * x[a.columnIndex()[k]];
        double sum = high + p;
        double t = sum - high;
        rest += ((high - (sum - t)) + (p - t)) + Math.fma(v, x[a.columnIndex()[k]], -p);
        high = sum;
      }
      double r = high + rest;
      square += r * r;
      for (int k = a.rowStart()[i]; k < a.rowStart()[i + 1]; k++) {
        int j = a.columnIndex()[k];
        double v = a.values()[k];
        norm[j] += v * v;
        double p = v * r;
        double sum = dot[j] + p;
        double t = sum - dot[j];
        low[j] += ((dot[j] - (sum - t)) + (p - t)) + Math.fma(v, r, -p);
        dot[j] = sum;
      }
    }
    double size = Math.sqrt(square);
    for (int j = 0; j < n; j++) {
      size += Math.abs(x[j]) * Math.sqrt(norm[j]);
    }
    double worst = 0;
    for (int j = 0; j < n; j++) {
      if (norm[j] > 0) {
        worst = Math.max(worst, Math.abs(dot[j] + low[j]) / Math.sqrt(norm[j]) / size);
      }
    }
    return worst;
  }
}
