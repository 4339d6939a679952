/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.pipeline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.error.InsufficientMemoryException;
import io.sparqr.matrix.gallery.DefaultRightHandSide;
import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.numeric.Tolerances;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.spark.GpuSparseQR;
import io.sparqr.spark.Problems;
import io.sparqr.spark.engine.Engine;
import io.sparqr.spark.factorization.FactorState;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.plan.SolveOptions;
import io.sparqr.spark.report.ProgressListener;
import io.sparqr.spark.report.SolveReport;
import io.sparqr.spark.rows.RowSource;
import io.sparqr.sparse.CsrMatrix;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The pipeline without Spark, compared with the same on Spark. */
class LocalEngineTest {

  private static final CsrMatrix A = Gallery.generate("gen:cells2d20");

  private static RowSource rows() {
    double[] b = DefaultRightHandSide.of(A);
    return RowSource.local(
        2,
        p ->
            IntStream.range(0, A.rows())
                .filter(i -> i % 2 == p)
                .mapToObj(i -> row(i, b))
                .iterator());
  }

  private static SparseRow row(int i, double[] b) {
    int from = A.rowStart()[i];
    int to = A.rowStart()[i + 1];
    return new SparseRow(
        Arrays.copyOfRange(A.columnIndex(), from, to),
        Arrays.copyOfRange(A.values(), from, to),
        new double[] {b[i]},
        1,
        A.columns());
  }

  /** Blocks go from task to task, over several levels, and several tasks run at once. */
  @Test
  void aTreeOfTasksGivesTheSameBits() {
    SolveOptions options =
        GpuSparseQR.builder()
            .ordering(OrderingMethod.NESTED_DISSECTION)
            .executors(2)
            .partitionOptions(new PartitionOptions(2, 4, 3, 0))
            .refinement(1)
            .check(true)
            .build()
            .options();
    var spread = Problems.rdd(A, 2, DefaultRightHandSide.of(A));
    try (FactorState spark =
            Pipeline.factorize(RowSource.of(spread), options, ProgressListener.NONE);
        FactorState local = Pipeline.factorize(ofProblems(), options, ProgressListener.NONE)) {
      SolveReport report = local.solve().report();
      assertThat(report.analysis().levels()).isGreaterThanOrEqualTo(2);
      assertThat(report.cluster().engine()).isEqualTo("local");
      assertThat(spark.solve().report().cluster().engine()).isEqualTo("spark");
      double[] x = local.solve().x();
      if (local.plan().partition().tasks().size() == spark.plan().partition().tasks().size()) {
        assertThat(x).isEqualTo(spark.solve().x());
        assertThat(report.residual().normalResidual())
            .isEqualTo(spark.solve().report().residual().normalResidual());
        assertThat(report.traffic()).isEqualTo(spark.solve().report().traffic());
      } else {
        // on more cores than Spark has here the tree is cut elsewhere
        assertThat(x)
            .usingComparatorWithPrecision(Tolerances.SOLUTION)
            .isEqualTo(spark.solve().x());
      }
      assertThatThrownBy(local::unscaledErrors)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("takes Spark");
    }
  }

  /** The partitions of {@link Problems#rdd}. */
  private static RowSource ofProblems() {
    List<List<SparseRow>> parts = Problems.rdd(A, 2, DefaultRightHandSide.of(A)).glom().collect();
    return RowSource.local(2, p -> parts.get(p).iterator());
  }

  @Test
  void refusesWhatTakesMoreThanHalfOfTheHeap() {
    try (FactorState made =
        Pipeline.factorize(rows(), SolveOptions.defaults(), ProgressListener.NONE)) {
      made.solve();
      long entries = made.report().factorization().nnzR();
      var need = new DiskNeed(Engine.LOCAL);
      need.factor(made.plan());
      long heap = Double.BYTES * entries * 3 / 2;
      assertThatCode(() -> need.requireHeap(3L * Double.BYTES * entries))
          .doesNotThrowAnyException();
      assertThatThrownBy(() -> need.requireHeap(heap))
          .isInstanceOfSatisfying(
              InsufficientMemoryException.class,
              e -> {
                assertThat(e.requiredBytes()).isGreaterThanOrEqualTo(Double.BYTES * entries);
                assertThat(e.availableBytes()).isEqualTo(heap / 2);
              })
          .hasMessageContaining("Spark writes to disk");
    }
  }
}
