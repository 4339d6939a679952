/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.sparqr.Sampling;
import io.sparqr.backend.cpu.CpuSubtreeFactorizer;
import io.sparqr.matrix.MatrixMarket;
import io.sparqr.matrix.gallery.DefaultRightHandSide;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * The real matrices of the index, with a right-hand side of our own. (A device factors them in
 * {@code CudaRealMatricesTest}.)
 */
class IndexedMatricesTest {

  /** Larger ones would take the suite minutes. */
  private static final double MOST_FLOPS = 7.5e9;

  /** Those that are solved a second time. */
  private static final double MOST_FLOPS_TWICE = 1e9;

  /** Every matrix of the index, tall way up, with a right-hand side of our own. */
  @TestFactory
  Stream<DynamicTest> index() throws IOException {
    Path table = SharedCollection.path("INDEX.tsv");
    List<String[]> matrices =
        Files.readAllLines(table).stream()
            .skip(1)
            .map(line -> line.split("\t", -1))
            .filter(f -> f[0].matches(".*\\.mtx(\\.gz)?") && !f[8].isEmpty())
            .filter(f -> Integer.parseInt(f[1]) > 0 && Integer.parseInt(f[2]) > 0)
            .filter(f -> Double.parseDouble(f[9]) < 4e-9 * MOST_FLOPS)
            .toList();
    return Sampling.of(matrices).map(f -> DynamicTest.dynamicTest(f[0], () -> checkIndexed(f)));
  }

  private void checkIndexed(String[] f) throws IOException {
    CsrMatrix read = MatrixMarket.readMatrix(SharedCollection.path(f[0]));
    CsrMatrix a = read.rows() < read.columns() ? read.transpose() : read;
    double[] b = DefaultRightHandSide.of(a);
    var options = SymbolicOptions.defaults();
    double flops = SymbolicAnalyzer.analyze(a.pattern(), options).flops();
    assumeTrue(flops < MOST_FLOPS, () -> f[0] + " takes " + flops + " flops");
    try (SubtreeFactorizer backend = new CpuSubtreeFactorizer()) {
      var solution = new LocalSolver(backend, options, 2).solve(a, b, 1);
      NormalEquations.check(a, b, solution);
      int rank = Integer.parseInt(f[8].split(" ")[0]);
      if (rank == a.columns()) {
        assertThat(solution.factorization().rank()).as("rank").isEqualTo(rank);
      }
      if (flops < MOST_FLOPS_TWICE) {
        CsrMatrix scaled = scaled(a);
        NormalEquations.check(scaled, b, new LocalSolver(backend, options, 2).solve(scaled, b, 1));
      }
    }
  }

  /**
   * Other units: after equilibration the matrix is the same except for rounding, so dependent
   * columns leave other rounding errors.
   */
  private static CsrMatrix scaled(CsrMatrix a) {
    var random = new Random(42);
    double[] unit = random.doubles(a.columns(), 1, 2).toArray();
    double[] values = a.values().clone();
    for (int k = 0; k < a.nonzeros(); k++) {
      values[k] *= unit[a.columnIndex()[k]];
    }
    return new CsrMatrix(a.rows(), a.columns(), a.rowStart(), a.columnIndex(), values);
  }
}
