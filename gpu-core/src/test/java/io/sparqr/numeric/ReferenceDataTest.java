/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.sparqr.backend.cpu.CpuSubtreeFactorizer;
import io.sparqr.matrix.DenseMatrix;
import io.sparqr.matrix.Libsvm;
import io.sparqr.matrix.MatrixMarket;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** Real problems against answers that were computed independently (dense SVD, refined solves). */
public class ReferenceDataTest {

  /** Larger ones would take the suite minutes. */
  private static final double MOST_FLOPS = 3e10;

  /** The backend that answers; a problem closes it. */
  protected SubtreeFactorizer create() {
    return new CpuSubtreeFactorizer();
  }

  @TestFactory
  Stream<DynamicTest> problems() throws IOException {
    List<String> lines = Files.readAllLines(SharedCollection.path("REFERENCE.tsv"));
    return SharedCollection.slice(lines.subList(1, lines.size()))
        .map(line -> line.split("\t", -1))
        .map(f -> DynamicTest.dynamicTest(f[0], () -> check(f)));
  }

  private void check(String[] f) throws IOException {
    CsrMatrix a;
    double[] b;
    Path file = SharedCollection.path(f[0]);
    if (f[1].equals("labels")) {
      var labeled = Libsvm.read(file);
      a = labeled.matrix();
      b = labeled.labels();
    } else {
      boolean transposed = f[1].endsWith(" (A')");
      CsrMatrix read = MatrixMarket.readMatrix(file);
      a = transposed ? read.transpose() : read;
      DenseMatrix rhs = MatrixMarket.readDense(SharedCollection.path(f[1].replace(" (A')", "")));
      b = rhs.column(0);
    }
    assertThat(new int[] {a.rows(), a.columns()})
        .containsExactly(Integer.parseInt(f[2]), Integer.parseInt(f[3]));
    var options = SymbolicOptions.defaults();
    double flops = SymbolicAnalyzer.analyze(a.pattern(), options).flops();
    assumeTrue(flops < MOST_FLOPS, () -> f[0] + " takes " + flops + " flops");
    try (SubtreeFactorizer backend = create()) {
      var solution = new LocalSolver(backend, options, 2).solve(a, b, 1);
      compare(f, a, b, solution);
    }
  }

  private static void compare(String[] f, CsrMatrix a, double[] b, LocalSolver.Solution solution) {
    double rounding = NormalEquations.check(a, b, solution);
    if (hasClearRank(f)) {
      assertThat(solution.factorization().rank()).as("rank").isEqualTo(Integer.parseInt(f[4]));
      double reference = Double.parseDouble(f[6]);
      assertThat(solution.residualNorm()[0])
          .as("residual norm of the reference")
          .isCloseTo(reference, within(Tolerances.RESIDUAL * reference + rounding));
    }
  }

  /**
   * Full rank and well conditioned, or a gap of ten orders of magnitude after the last singular
   * value.
   */
  private static boolean hasClearRank(String[] f) {
    if (f[4].isEmpty()) {
      return false;
    }
    double last = Double.parseDouble(f[9]);
    double next = f[10].equals("nan") ? 0 : Double.parseDouble(f[10]);
    return Double.parseDouble(f[8]) < 1e10 && next < 1e-10 * last;
  }

  /** NIST StRD linear regression, all sets: full rank, and six digits of every parameter. */
  @TestFactory
  Stream<DynamicTest> nist() throws IOException {
    Path folder = SharedCollection.path("nist");
    var certified = new TreeMap<String, Map<String, Double>>();
    for (String line :
        Files.readAllLines(folder.resolve("certified.tsv")).stream().skip(1).toList()) {
      String[] f = line.split("\t");
      certified
          .computeIfAbsent(f[0], d -> new LinkedHashMap<>())
          .put(f[4], Double.parseDouble(f[7]));
    }
    return certified.entrySet().stream()
        .map(e -> DynamicTest.dynamicTest(e.getKey(), () -> checkNist(folder, e)));
  }

  private void checkNist(Path folder, Map.Entry<String, Map<String, Double>> set)
      throws IOException {
    List<String> lines = Files.readAllLines(folder.resolve(set.getKey() + ".csv"));
    List<String> names = List.of(lines.get(0).split(","));
    List<String> terms = List.copyOf(set.getValue().keySet());
    double[][] a = new double[lines.size() - 1][terms.size()];
    double[] b = new double[a.length];
    for (int i = 0; i < a.length; i++) {
      String[] f = lines.get(i + 1).split(",");
      b[i] = Double.parseDouble(f[0]);
      for (int j = 0; j < terms.size(); j++) {
        String[] term = terms.get(j).split("\\^");
        double power = term.length > 1 ? Double.parseDouble(term[1]) : 1;
        boolean one = term[0].equals("(Intercept)");
        a[i][j] = one ? 1 : Math.pow(Double.parseDouble(f[names.indexOf(term[0])]), power);
      }
    }
    CsrMatrix matrix = TestMatrices.ofDense(a, terms.size(), false);
    try (SubtreeFactorizer backend = create()) {
      var solution = new LocalSolver(backend, SymbolicOptions.defaults(), 1).solve(matrix, b, 1);
      assertThat(solution.factorization().rank()).isEqualTo(terms.size());
      for (int j = 0; j < terms.size(); j++) {
        double expected = set.getValue().get(terms.get(j));
        assertThat(solution.x()[j])
            .as("parameter %s", terms.get(j))
            // one unit of the seventh digit: of all sets the worst has an error of 0.87
            .isCloseTo(expected, within(2 * Tolerances.digits(7, expected)));
      }
    }
  }
}
