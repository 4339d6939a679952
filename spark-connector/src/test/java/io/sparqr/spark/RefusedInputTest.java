/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.backend.BackendChoice;
import io.sparqr.error.BackendUnavailableException;
import io.sparqr.error.DimensionMismatchException;
import io.sparqr.error.IndexOverflowException;
import io.sparqr.error.InsufficientMemoryException;
import io.sparqr.error.MatrixFormatException;
import io.sparqr.error.NonFiniteValueException;
import io.sparqr.error.RankDeficientException;
import io.sparqr.spark.model.RankPolicy;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.report.LeastSquaresSolution;
import io.sparqr.sparse.CsrMatrix;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.mllib.linalg.Vectors;
import org.apache.spark.mllib.regression.LabeledPoint;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Each bad input gives one clear error and leaves nothing behind; odd but legal input is handled.
 */
class RefusedInputTest {

  private static final CsrMatrix A = Problems.random(20, 6, 3, 7);
  private static final double[] B = Problems.rhs(20, 8);

  @AfterEach
  void nothingIsLeftBehind() {
    assertThat(LocalSpark.context().getPersistentRDDs()).isEmpty();
    assertThat(LocalSpark.context().getLocalProperty("spark.job.description")).isNull();
  }

  private static SparseRow row(int[] index, double... value) {
    return new SparseRow(index, value, 1.0);
  }

  /** The good rows with one bad one: row 3 of partition 1. */
  private static JavaRDD<SparseRow> with(SparseRow bad) {
    List<SparseRow> rows = new ArrayList<>(Problems.rows(A, B));
    rows.set(13, bad);
    return LocalSpark.context().parallelize(rows, 2);
  }

  private static void refused(SparseRow bad, Class<?> type, String... words) {
    assertThatThrownBy(() -> GpuSparseQR.solve(with(bad)))
        .isInstanceOf(type)
        .hasMessageContaining("row 3 of partition 1")
        .hasMessageContainingAll(words);
  }

  @Test
  void notANumberIsNamedByRowAndColumn() {
    refused(row(new int[] {1, 4}, 1, Double.NaN), NonFiniteValueException.class, "column 4", "NaN");
    refused(
        row(new int[] {0}, Double.NEGATIVE_INFINITY),
        NonFiniteValueException.class,
        "column 0",
        "-Infinity");
    refused(
        new SparseRow(new int[] {0}, new double[] {1}, Double.NaN),
        NonFiniteValueException.class,
        "right-hand side 0 is NaN");
    refused(
        new SparseRow(new int[] {0}, new double[] {1}, 1, Double.NaN),
        NonFiniteValueException.class,
        "weight NaN");
  }

  @Test
  void wrongIndicesAndWeightsAreRefused() {
    refused(row(new int[] {-1}, 1), MatrixFormatException.class, "column index -1");
    refused(row(new int[] {6}, 1), MatrixFormatException.class, "column index 6", "[0, 6)");
    refused(
        row(new int[] {2, 0, 2}, 1, 1, 1), MatrixFormatException.class, "column 2 appears twice");
    refused(
        new SparseRow(new int[] {0}, new double[] {1}, 1, -0.5),
        MatrixFormatException.class,
        "negative weight -0.5");
    refused(
        new SparseRow(new int[] {0}, new double[] {1}, new double[] {1, 2}),
        DimensionMismatchException.class,
        "2 right-hand sides");
    refused(
        new SparseRow(new int[] {0}, new double[] {1}, new double[] {1}, 1, 7),
        DimensionMismatchException.class,
        "7 columns, expected 6");
    refused(null, MatrixFormatException.class, "null");
  }

  @Test
  void emptyProblemsAreRefused() {
    var context = LocalSpark.context();
    assertThatThrownBy(() -> GpuSparseQR.solve(context.parallelize(List.<SparseRow>of(), 2)))
        .isInstanceOf(MatrixFormatException.class)
        .hasMessage("the input has no rows");
    assertThatThrownBy(() -> GpuSparseQR.solve(context.parallelize(List.of(row(new int[0])), 1)))
        .isInstanceOf(MatrixFormatException.class)
        .hasMessage("the matrix has no columns");
    var ignored = new SparseRow(new int[] {0}, new double[] {1}, 1, 0);
    assertThatThrownBy(() -> GpuSparseQR.solve(context.parallelize(List.of(ignored), 1)))
        .isInstanceOf(MatrixFormatException.class)
        .hasMessage("all rows have weight 0");
    assertThatThrownBy(() -> GpuSparseQR.solve(context.parallelize(List.of("text"), 1)))
        .isInstanceOf(MatrixFormatException.class)
        .hasMessageContaining("java.lang.String");
  }

  @Test
  void raggedLabeledPointsAreRefused() {
    var points =
        List.of(
            new LabeledPoint(1, Vectors.sparse(3, new int[] {0}, new double[] {1})),
            new LabeledPoint(1, Vectors.dense(1, 2)));
    assertThatThrownBy(() -> GpuSparseQR.solve(LocalSpark.context().parallelize(points, 2)))
        .isInstanceOf(DimensionMismatchException.class)
        .hasMessageContaining("2 columns, others 3");
    assertThatThrownBy(() -> GpuSparseQR.solve(LocalSpark.context().parallelize(points, 1)))
        .isInstanceOf(DimensionMismatchException.class)
        .hasMessageContaining("row 1 of partition 0 has 2 columns, expected 3");
  }

  @Test
  void aPatternTooLargeForTheDriverIsFoundOutBefore() {
    // two billion columns: tables of that size do not fit a test's heap
    var rows = List.of(row(new int[] {2_000_000_000}, 1), row(new int[] {0}, 1));
    assertThatThrownBy(() -> GpuSparseQR.solve(LocalSpark.context().parallelize(rows, 2)))
        .isInstanceOf(InsufficientMemoryException.class)
        .hasMessageContaining("spark.driver.memory");
  }

  @Test
  void whatNoArrayCanHoldIsRefusedByItsLimit() {
    double[] two = {1, 2};
    var rows =
        List.of(
            new SparseRow(new int[] {1_200_000_000}, new double[] {1}, two, 1, -1),
            new SparseRow(new int[] {0}, new double[] {1}, two, 1, -1));
    assertThatThrownBy(() -> GpuSparseQR.solve(LocalSpark.context().parallelize(rows, 2)))
        .isInstanceOfSatisfying(
            IndexOverflowException.class, e -> assertThat(e.value()).isEqualTo(2_400_000_002L))
        .hasMessageContaining("2 right-hand sides of 1,200,000,001 columns")
        .hasMessageContaining("2^31");
  }

  @Test
  void aRequiredBackendThatIsNotThereIsAnError() {
    org.junit.jupiter.api.Assumptions.assumeTrue(
        java.nio.file.Files.notExists(java.nio.file.Path.of("/dev/nvidia0")), "a device is here");
    assertThatThrownBy(
            () ->
                GpuSparseQR.builder()
                    .backend(BackendChoice.REQUIRE_CUDA)
                    .solve(Problems.rdd(A, 2, B)))
        .isInstanceOf(BackendUnavailableException.class)
        .hasMessageContaining("CUDA is required");
  }

  @Test
  void rankDeficiencyIsAnErrorOnlyOnRequest() {
    List<SparseRow> rows = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      double v = 1 + i % 5;
      rows.add(new SparseRow(new int[] {0, 1, 2}, new double[] {v, 2 * v, 1 + i % 3}, i));
    }
    var rdd = LocalSpark.context().parallelize(rows, 2);
    assertThatThrownBy(() -> GpuSparseQR.builder().rankPolicy(RankPolicy.FAIL).solve(rdd))
        .isInstanceOf(RankDeficientException.class)
        .hasMessageContaining("rank 2 of 3");
    LeastSquaresSolution s = GpuSparseQR.solve(rdd);
    assertThat(s.rank()).isEqualTo(2);
    assertThat(s.deadColumns()).hasSize(1);
    assertThat(s.x()[s.deadColumns()[0]]).isZero();
  }

  @Test
  void optionsOutOfRangeAreRefused() {
    assertThatThrownBy(() -> GpuSparseQR.builder().ridge(-1).build())
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> GpuSparseQR.builder().rankTolerance(Double.NaN).build())
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> GpuSparseQR.builder().columns(-2).build())
        .isInstanceOf(IllegalArgumentException.class);
  }
}
