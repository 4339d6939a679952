/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.integrity;

import io.sparqr.backend.cpu.CpuSubtreeFactorizer;
import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.numeric.ColumnNorms;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.RowSplit;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.TestMatrices;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.ordering.dissection.NestedDissection;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/** A random problem as one task, for faults to be put into its factorization. */
public record FaultProblem(
    String name, SubtreeProblem problem, FactorOptions options, boolean free, int part) {

  /** The problem with this seed, {@code size} times as large as the smallest ones. */
  public static FaultProblem random(long seed, int size) {
    var random = new Random(seed);
    int kind = random.nextInt(9);
    CsrMatrix a = matrix(kind, size, random);
    int rhs = 1 + random.nextInt(2);
    var symbolic = SymbolicOptions.defaults().withSingletons(false);
    symbolic =
        random.nextInt(3) == 0
            ? symbolic.withOrdering(OrderingMethod.NATURAL)
            : symbolic.withGiven(new NestedDissection().order(a.pattern()));
    SymbolicAnalysis analysis = SymbolicAnalyzer.analyze(a.pattern(), symbolic);
    var norms = new ColumnNorms(a.columns());
    for (int k = 0; k < a.nonzeros(); k++) {
      norms.add(a.columnIndex()[k], a.values()[k]);
    }
    boolean unit = random.nextInt(3) > 0;
    double[] factors = norms.factors();
    double largest = 1;
    if (!unit) {
      Arrays.fill(factors, 1);
      largest = norms.max();
    }
    double[] b = TestMatrices.vector(a.rows() * rhs, random);
    int[] fronts = new int[analysis.fronts()];
    Arrays.setAll(fronts, f -> f);
    RowSplit split = RowSplit.of(a, b, rhs, analysis, factors);
    boolean detect = kind > 5 || random.nextInt(4) > 0;
    double tolerance = detect ? FactorOptions.defaultTolerance(a.rows(), a.columns(), largest) : -1;
    boolean keepQ = random.nextInt(6) == 0;
    var options = new FactorOptions(tolerance, 1, 0, keepQ).ofUnitColumns(unit);
    int part = random.nextInt(3) == 0 ? 3 + random.nextInt(6) : 10;
    SubtreeProblem whole = new SubtreeProblem(analysis, fronts, split.rows(), List.of());
    SubtreeProblem some = whole;
    int cut = random.nextInt(4);
    if (fronts.length > 1 && !keepQ && cut > 1) {
      int at = 1 + random.nextInt(fronts.length - 1);
      some = cut == 2 ? IntegrityCases.part(whole, 0, at, List.of()) : above(whole, at, options);
    }
    String name =
        "seed %d: kind %d, %d x %d, %d rhs, %d of %d fronts, %d blocks in, tolerance %.1e, keepQ %b, %d/10 of memory"
            .formatted(
                seed,
                kind,
                a.rows(),
                a.columns(),
                rhs,
                some.fronts().length,
                fronts.length,
                some.inputs().size(),
                tolerance,
                keepQ,
                part);
    return new FaultProblem(name, some, options, random.nextInt(3) == 0, part);
  }

  /** The fronts above a cut, with the blocks from below. */
  private static SubtreeProblem above(SubtreeProblem whole, int cut, FactorOptions options) {
    try (var cpu = new CpuSubtreeFactorizer()) {
      SubtreeFactor below = cpu.factor(IntegrityCases.part(whole, 0, cut, List.of()), options);
      int end = whole.fronts().length;
      return IntegrityCases.part(whole, cut, end, below.outputs());
    }
  }

  /** Kinds 4 and 5 are of conditions up to some thousands, those from 6 on dependent. */
  private static CsrMatrix matrix(int kind, int size, Random random) {
    int n = 20 * size + random.nextInt(40 * size);
    int m = n + random.nextInt(n);
    return switch (kind) {
      case 0 -> TestMatrices.dense(m, n, random);
      case 1, 2 -> grid(2 + (int) Math.sqrt(n), 0, random);
      case 3 -> TestMatrices.sparse(2 * n, n, 2, random);
      case 4 -> nearlyDependent(TestMatrices.dense(m, n, random), random);
      case 5 -> unequalRows(grid(2 + (int) Math.sqrt(n), 0, random), random);
      case 6 -> grid(2 + (int) Math.sqrt(n), 8, random);
      case 7 -> TestMatrices.ofRank(m, n, n - 1 - random.nextInt(n / 2), random);
      default -> TestMatrices.incidence(2 * n, n, random);
    };
  }

  /** Some columns equal the one before them, except for a part of 1e-3 to 1. */
  private static CsrMatrix nearlyDependent(CsrMatrix dense, Random random) {
    int n = dense.columns();
    double[] v = dense.values().clone();
    for (int j = 1; j < n; j++) {
      double part = random.nextInt(6) == 0 ? Math.pow(10, -3 * random.nextDouble()) : 1;
      for (int i = 0; part < 1 && i < dense.rows(); i++) {
        v[i * n + j] = v[i * n + j - 1] + part * v[i * n + j];
      }
    }
    return new CsrMatrix(dense.rows(), n, dense.rowStart(), dense.columnIndex(), v);
  }

  /** Each row times a factor of 1e-3 to 1. */
  private static CsrMatrix unequalRows(CsrMatrix a, Random random) {
    double[] v = a.values().clone();
    for (int i = 0; i < a.rows(); i++) {
      double factor = Math.pow(10, -3 * random.nextDouble());
      for (int k = a.rowStart()[i]; k < a.rowStart()[i + 1]; k++) {
        v[k] *= factor;
      }
    }
    return new CsrMatrix(a.rows(), a.columns(), a.rowStart(), a.columnIndex(), v);
  }

  /** Cells of a grid with random values; every {@code zeros}-th column zero. */
  private static CsrMatrix grid(int side, int zeros, Random random) {
    CsrMatrix g = Gallery.generate("gen:cells2d" + side);
    double[] v = TestMatrices.vector(g.nonzeros(), random);
    boolean[] zero = new boolean[g.columns()];
    for (int j = 0; j < zero.length; j++) {
      zero[j] = zeros > 0 && random.nextInt(zeros) == 0;
    }
    for (int k = 0; k < v.length; k++) {
      v[k] = zero[g.columnIndex()[k]] ? 0 : v[k];
    }
    return new CsrMatrix(g.rows(), g.columns(), g.rowStart(), g.columnIndex(), v);
  }

  /** The same with less memory: several stages. */
  public FactorOptions within(long bytes) {
    return new FactorOptions(
            options.rankTolerance(), options.threads(), bytes * part / 10, options.keepQ())
        .ofUnitColumns(options.unitColumns());
  }

  /** The largest departure that the checks accept; the reference is a right result. */
  double bound(SubtreeFactor reference) {
    return Balance.bound(Steps.of(problem, reference));
  }
}
