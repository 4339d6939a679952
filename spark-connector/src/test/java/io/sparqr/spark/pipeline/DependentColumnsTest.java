/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.numeric.Tolerances;
import io.sparqr.spark.GpuSparseQR;
import io.sparqr.spark.factorization.FactorState;
import io.sparqr.spark.report.ProgressListener;
import io.sparqr.spark.rows.RowSource;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Small pose graphs with weights of 10^+-4 that once had no fit, or a useless one. */
@Tag("numbers")
class DependentColumnsTest {

  private static PoseGraphs.Network read(String name) throws IOException {
    try (InputStream in = DependentColumnsTest.class.getResourceAsStream("/dependence/" + name)) {
      List<String> lines = new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().toList();
      double[][] all =
          lines.stream()
              .skip(1)
              .map(
                  line -> Arrays.stream(line.split(",")).mapToDouble(Double::parseDouble).toArray())
              .toArray(double[][]::new);
      double[] b = Arrays.stream(all).mapToDouble(row -> row[0]).toArray();
      double[][] a =
          Arrays.stream(all)
              .map(row -> Arrays.copyOfRange(row, 1, row.length))
              .toArray(double[][]::new);
      return new PoseGraphs.Network(a, b, new double[a[0].length][0], new int[0], new int[0], name);
    }
  }

  /** All of them have full row rank, so that the least residual is 0. */
  @ParameterizedTest
  @CsvSource({"aioobe.csv, 3", "later9b.csv, 3"})
  void theResidualIsThatOfAPlainSolve(String name, int dependent) throws IOException {
    PoseGraphs.Network g = read(name);
    var rows = g.rows();
    var options = GpuSparseQR.builder().dropLater(true).build().options();
    try (FactorState s =
        Pipeline.factorize(
            RowSource.local(1, p -> rows.iterator()), options, ProgressListener.NONE)) {
      double[] x = s.solve().x();
      assertThat(s.deadColumns()).hasSize(dependent);
      double largest = 0;
      double[] norm = g.norms();
      for (int j = 0; j < x.length; j++) {
        largest = Math.max(largest, Math.abs(x[j]) * norm[j]);
      }
      // the rounding of x alone
      assertThat(GaugeOracle.residual(g.a(), g.b(), x))
          .isLessThan(20 * Math.ulp(1.0) * largest)
          .isLessThan(Tolerances.RANDOM);
    }
  }
}
