/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.error.InsufficientMemoryException;
import io.sparqr.matrix.DefaultRightHandSide;
import io.sparqr.matrix.Gallery;
import io.sparqr.spark.ProgressListener;
import io.sparqr.spark.SparseRow;
import io.sparqr.spark.plan.SolveOptions;
import io.sparqr.spark.resource.Engine;
import io.sparqr.spark.rows.RowSource;
import io.sparqr.sparse.CsrMatrix;
import java.util.Arrays;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Without Spark R stays in the heap: what would crowd it is refused before it is made. */
class LocalHeapTest {

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

  @Test
  void refusesWhatTakesMoreThanHalfOfTheHeap() {
    try (FactorState made =
        Pipeline.factorize(rows(), SolveOptions.defaults(), ProgressListener.NONE)) {
      made.solve();
      long entries = made.report().factorization().nnzR();
      var need = new DiskNeed(Engine.LOCAL);
      need.factor(made.plan());
      assertThatCode(() -> need.requireHeap(3L * Double.BYTES * entries))
          .doesNotThrowAnyException();
      assertThatThrownBy(() -> need.requireHeap(Double.BYTES * entries))
          .isInstanceOfSatisfying(
              InsufficientMemoryException.class,
              e -> {
                assertThat(e.requiredBytes()).isGreaterThanOrEqualTo(Double.BYTES * entries);
                assertThat(e.availableBytes()).isEqualTo(Double.BYTES * entries / 2);
              })
          .hasMessageContaining("Spark writes to disk");
    }
  }
}
