/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import io.sparqr.backend.cpu.CpuBackendProvider;
import io.sparqr.matrix.Libsvm;
import io.sparqr.matrix.MatrixMarket;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.FrontFactor;
import io.sparqr.numeric.RowSplit;
import io.sparqr.numeric.SharedCollection;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeFactorizer;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.Tolerances;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import io.sparqr.symbolic.SymbolicSummary;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;

/** Every matrix of the shared collection, device against CPU backend: same rank, same norms. */
@Tag("gpu")
class CudaRealMatricesTest {

  /** The CPU's time. */
  private static final double MOST_FLOPS = 2e10;

  /** Of R, which is here twice. */
  private static final double MOST_ENTRIES = 1e8;

  private static SubtreeFactorizer device;
  private static SubtreeFactorizer cpu;

  @BeforeAll
  static void open() {
    device = TestDevice.provider().create(0);
    cpu = new CpuBackendProvider().create(0);
  }

  @AfterAll
  static void close() {
    if (device != null) {
      device.close();
    }
    if (cpu != null) {
      cpu.close();
    }
  }

  @TestFactory
  Stream<DynamicTest> sameRankAndNormsAsTheCpu() throws IOException {
    List<Path> files;
    try (var all = Files.walk(SharedCollection.path(""))) {
      files = all.filter(f -> f.toString().matches(".*\\.(mtx|svm)(\\.gz)?")).sorted().toList();
    }
    assertThat(files).hasSizeGreaterThan(20);
    return SharedCollection.slice(files)
        .map(f -> dynamicTest(f.getFileName().toString(), () -> compare(f)));
  }

  private static void compare(Path file) throws IOException {
    CsrMatrix a = matrix(file);
    Assumptions.assumeTrue(a != null, "a right-hand side, not a matrix");
    Assumptions.assumeTrue(a.columns() >= 2, "fewer than two columns");
    var analysis =
        SymbolicAnalyzer.analyze(a.pattern(), SymbolicOptions.defaults().withSingletons(false));
    double entries = SymbolicSummary.of(analysis, 1).nonzerosOfR();
    Assumptions.assumeTrue(
        analysis.flops() <= MOST_FLOPS && entries <= MOST_ENTRIES,
        () -> "too large here: %.3g flops, %.3g entries of R".formatted(analysis.flops(), entries));
    double[] factors = equilibration(a);
    RowSplit split = RowSplit.of(a, new double[a.rows()], 1, analysis, factors);
    int[] fronts = new int[analysis.fronts()];
    Arrays.setAll(fronts, f -> f);
    var problem = new SubtreeProblem(analysis, fronts, split.rows(), List.of());
    double tolerance = FactorOptions.defaultTolerance(a.rows(), a.columns(), 1);
    var options = new FactorOptions(tolerance, 8, 0);
    SubtreeFactor x = device.factor(problem, options);
    SubtreeFactor y = cpu.factor(problem, options);
    assertThat(x.summary().rank()).as("rank").isEqualTo(y.summary().rank());
    assertThat(normError(a, factors, analysis, x))
        .as("error of ||R v||")
        .isLessThanOrEqualTo(Tolerances.RESIDUAL + x.summary().droppedNorm());
  }

  private static CsrMatrix matrix(Path file) throws IOException {
    if (file.toString().contains(".svm")) {
      return Libsvm.read(file).matrix();
    }
    try {
      return MatrixMarket.readMatrix(file);
    } catch (io.sparqr.error.SparseQrException e) {
      // Right-hand sides are dense arrays.
      return null;
    }
  }

  private static double[] equilibration(CsrMatrix a) {
    double[] norm = new double[a.columns()];
    for (int k = 0; k < a.nonzeros(); k++) {
      norm[a.columnIndex()[k]] = Math.hypot(norm[a.columnIndex()[k]], a.values()[k]);
    }
    Arrays.setAll(norm, j -> norm[j] > 0 ? 1 / norm[j] : 1);
    return norm;
  }

  /** | ||R v|| - ||A v|| | / ||A v|| for a random v; for A = 0, ||R v||. */
  private static double normError(
      CsrMatrix a, double[] factors, SymbolicAnalysis analysis, SubtreeFactor f) {
    var random = new Random(3);
    double[] v = new double[a.columns()];
    Arrays.setAll(v, j -> random.nextGaussian());
    double av = 0;
    for (int i = 0; i < a.rows(); i++) {
      double sum = 0;
      for (int k = a.rowStart()[i]; k < a.rowStart()[i + 1]; k++) {
        int j = a.columnIndex()[k];
        sum += a.values()[k] * factors[j] * v[analysis.permutation().position(j)];
      }
      av = Math.hypot(av, sum);
    }
    double rv = 0;
    for (FrontFactor front : f.fronts()) {
      int at = 0;
      for (int live : front.livePivot()) {
        double sum = 0;
        for (int k = live; k < front.fn(); k++) {
          sum += front.values().get(at++) * v[analysis.column(front.front(), k)];
        }
        rv = Math.hypot(rv, sum);
      }
    }
    return av == 0 ? rv : Math.abs(rv - av) / av;
  }
}
