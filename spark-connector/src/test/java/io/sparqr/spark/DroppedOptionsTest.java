/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.numeric.Tolerances;
import io.sparqr.spark.model.SparseRow;
import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.api.java.JavaRDD;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Calls that would lose the options do not compile, and those that compile keep them. */
@Tag("once")
class DroppedOptionsTest {

  @TempDir Path folder;

  private String errors(String statements) throws IOException {
    String source =
        """
        import io.sparqr.spark.*;
        import io.sparqr.spark.model.*;
        import org.apache.spark.api.java.JavaRDD;
        import org.apache.spark.rdd.RDD;
        import org.apache.spark.sql.*;
        class Caller {
          void call(JavaRDD<SparseRow> rows, RDD<SparseRow> scala, Dataset<Row> data,
              JavaRDD<double[]> labels) {
            %s
          }
        }
        """
            .formatted(statements);
    return JavaSource.errors(folder, "Caller", source);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "GpuSparseQR.solve(rows); GpuSparseQR.solve(scala); GpuSparseQR.solve(data);",
        "SparseQRSolver s = GpuSparseQR.builder().ridge(1e6).build();"
            + " s.solve(rows); s.solve(scala); s.solve(data); s.solve(data, \"f\", \"\", \"b\", \"c\");"
            + " s.factorize(rows); s.factorize(scala); s.factorize(data);"
            + " s.factorize(data, \"f\", \"w\", \"b\");",
        "GpuSparseQR.Builder b = GpuSparseQR.builder().ridge(1e6);"
            + " b.solve(rows); b.solve(scala); b.solve(data);"
            + " b.factorize(rows); b.factorize(scala); b.factorize(data);",
        "QRFactorization f = GpuSparseQR.builder().factorize(rows);"
            + " f.solve(); f.solve(labels); f.solveRelabeled(rows); f.solveRelabeled(scala);",
      })
  void calls(String statements) throws IOException {
    assertThat(errors(statements)).as(statements).isEmpty();
  }

  /** Code that must not compile, and the compiler's message. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        // no static call can be reached through the result of a builder
        "GpuSparseQR g = GpuSparseQR.builder().build(); | SparseQRSolver cannot be converted",
        "new GpuSparseQR(); | has private access",
        "class Mine extends GpuSparseQR {} | cannot inherit from final",
        "GpuSparseQR.builder().build().builder(); | symbol:   method builder()",
        // options belong to instances: without an instance there are no options
        "SparseQRSolver.solve(rows); | non-static method solve",
        "SparseQRSolver.factorize(rows); | non-static method factorize",
        "new SparseQRSolver(null, null); | is not public",
        "GpuSparseQR.factorize(rows); | symbol:   method factorize",
        "GpuSparseQR.ridge(1e6); | symbol:   method ridge",
        // options after build() or factorize() would come too late
        "GpuSparseQR.builder().build().ridge(1e6); | symbol:   method ridge",
        "GpuSparseQR.builder().factorize(rows).ridge(1e6); | symbol:   method ridge",
        "GpuSparseQR.builder().build().options().problem().ridge(1e6); | ridge in record Problem",
        // rows in place of right-hand sides, and names that did not tell the difference
        "GpuSparseQR.builder().factorize(rows).solve(rows); | cannot be converted to JavaRDD<double",
        "GpuSparseQR.builder().build().solveRows(rows); | symbol:   method solveRows",
        "GpuSparseQR.builder().factorize(rows).solveRows(rows); | symbol:   method solveRows",
      })
  void traps(String statements, String reason) throws IOException {
    assertThat(errors(statements)).as(statements).contains(reason);
  }

  @Test
  void whatHasOptionsHasNoStaticMethods() {
    for (Class<?> type :
        List.of(SparseQRSolver.class, QRFactorization.class, GpuSparseQR.Builder.class)) {
      assertThat(type).isFinal();
      assertThat(Arrays.stream(type.getMethods()).filter(DroppedOptionsTest::isStatic))
          .as(type.getName())
          .isEmpty();
    }
    assertThat(GpuSparseQR.class).isFinal();
    assertThat(Arrays.stream(GpuSparseQR.class.getDeclaredConstructors()))
        .allMatch(c -> Modifier.isPrivate(((Constructor<?>) c).getModifiers()));
    assertThat(Arrays.stream(GpuSparseQR.class.getDeclaredMethods()))
        .allMatch(DroppedOptionsTest::isStatic);
  }

  private static boolean isStatic(Method m) {
    return Modifier.isStatic(m.getModifiers());
  }

  @Test
  void theRidgeOfABuiltSolverIsThere() {
    // 1 x = 1 under 1e6 x^2, by every way from a builder to a solution; the roundings are those of
    // Q'b = 1e-3, which a difference of numbers near 1 gives, before the division by 1e3
    JavaRDD<SparseRow> rows =
        LocalSpark.context()
            .parallelize(List.of(new SparseRow(new int[] {0}, new double[] {1}, 1)), 1);
    GpuSparseQR.Builder builder = GpuSparseQR.builder().ridge(1e6);
    double expected = 1 / (1 + 1e6);
    assertThat(GpuSparseQR.solve(rows).x()[0]).isEqualTo(1);
    assertThat(builder.solve(rows).x()[0])
        .isCloseTo(expected, within(Tolerances.roundings(8, 1e-3)));
    assertThat(builder.build().solve(rows).x()[0])
        .isCloseTo(expected, within(Tolerances.roundings(8, 1e-3)));
    assertThat(builder.build().solve(rows.rdd()).x()[0])
        .isCloseTo(expected, within(Tolerances.roundings(8, 1e-3)));
    try (QRFactorization f = builder.build().factorize(rows)) {
      assertThat(f.solve().x()[0]).isCloseTo(expected, within(Tolerances.roundings(8, 1e-3)));
      assertThat(f.solveRelabeled(rows).x()[0])
          .isCloseTo(expected, within(Tolerances.roundings(8, 1e-3)));
    }
  }
}
