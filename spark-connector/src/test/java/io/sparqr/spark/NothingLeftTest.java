/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.backend.BackendChoice;
import io.sparqr.error.NonFiniteValueException;
import io.sparqr.jvm.JvmState;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.sparse.CsrMatrix;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.apache.spark.api.java.JavaRDD;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** After a solve, and once a factorization is closed, this JVM holds nothing of it. */
class NothingLeftTest {

  private static final long SEED = Long.getLong("test.seed", 20261127L);
  private static final CsrMatrix A = Problems.grid(20, SEED);
  private static final double[] B = Problems.rhs(A.rows(), SEED + 1);

  private JvmState state;

  @BeforeEach
  void begin() {
    state = JvmState.fresh();
  }

  @AfterEach
  void end() {
    state.close();
  }

  /** Spark drops stored partitions in the background. */
  private void requireNothing() {
    long end = System.nanoTime() + 10_000_000_000L;
    while (!state.held().isEmpty() && System.nanoTime() < end) {
      LockSupport.parkNanos(10_000_000);
    }
    assertThat(state.held()).isEmpty();
  }

  private static GpuSparseQR.Builder solver() {
    return GpuSparseQR.builder()
        .backend(BackendChoice.CPU)
        .ordering(OrderingMethod.NESTED_DISSECTION)
        .partitionOptions(new PartitionOptions(2, 4, 3, 0));
  }

  private static JavaRDD<SparseRow> rows(double[] b) {
    return LocalSpark.context().parallelize(Problems.rows(A, b), 4);
  }

  @Test
  void aSolveLeavesNothing() {
    solver().solve(rows(B));
    requireNothing();
  }

  @Test
  void aFactorizationHoldsItsRUntilItIsClosed() {
    try (QRFactorization f = solver().factorize(rows(B))) {
      assertThat(state.held()).containsKey("bytes of R outside the heap");
      f.solve();
    }
    requireNothing();
  }

  @Test
  void aSolveThatFailsLeavesNothing() {
    double[] bad = B.clone();
    bad[A.rows() / 2] = Double.NaN;
    for (JavaRDD<SparseRow> rows : List.of(rows(bad), rows(bad).cache())) {
      assertThatThrownBy(() -> solver().solve(rows)).isInstanceOf(NonFiniteValueException.class);
      requireNothing();
      rows.unpersist(true);
    }
  }
}
