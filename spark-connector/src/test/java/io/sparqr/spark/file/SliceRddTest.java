/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.file;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.matrix.DenseMatrix;
import io.sparqr.spark.GpuSparseQR;
import io.sparqr.spark.LocalSpark;
import io.sparqr.spark.Problems;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.rows.RowSource;
import io.sparqr.sparse.CsrMatrix;
import java.util.HashSet;
import java.util.List;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.storage.StorageLevel;
import org.junit.jupiter.api.Test;

/** Rows of slices: whoever keeps rows has rows of their own, and a solve reads them without. */
class SliceRddTest {

  private static final long SEED = Long.getLong("test.seed", 20261126L);
  private static final CsrMatrix A = Problems.random(90, 20, 5, SEED);
  private static final double[] B = Problems.rhs(A.rows(), SEED + 1);

  private static JavaRDD<SparseRow> rows() {
    var b = new DenseMatrix(A.rows(), 1, B);
    List<RowSlice> slices =
        List.of(
            RowSlice.shared(A, b, 0, 40),
            RowSlice.shared(A, b, 40, 41),
            RowSlice.shared(A, b, 41, 90));
    return SliceRdd.of(LocalSpark.context().parallelize(slices, 2));
  }

  private static void requireAll(List<SparseRow> rows) {
    List<SparseRow> expected = Problems.rows(A, B);
    assertThat(rows).hasSameSizeAs(expected);
    for (int i = 0; i < rows.size(); i++) {
      assertThat(rows.get(i).indices()).isEqualTo(expected.get(i).indices());
      assertThat(rows.get(i).values()).isEqualTo(expected.get(i).values());
      assertThat(rows.get(i).labels()).isEqualTo(expected.get(i).labels());
    }
  }

  /** Numbers of distinct row objects that the tasks of a solve see. */
  private static List<Integer> objects(JavaRDD<?> rows) {
    return RowSource.of(rows)
        .parts()
        .map(
            (p, in) -> {
              // identity: a row has no equals of its own
              var seen = new HashSet<SparseRow>();
              in.forEachRemaining(seen::add);
              return List.of(seen.size()).iterator();
            })
        .collect();
  }

  @Test
  void rowsThatAreKeptAreDistinct() {
    requireAll(rows().collect());
    requireAll(RowSource.of(rows()).rows().collect());
  }

  @Test
  void aSolveReadsRowsThatAreUsedAgain() {
    assertThat(objects(rows()).stream().mapToInt(k -> k).sum()).isLessThan(A.rows() / 2);
    // the same rows in the same partitions, not known to be made from slices
    JavaRDD<SparseRow> plain = rows().map(r -> r);
    assertThat(objects(plain).stream().mapToInt(k -> k).sum()).isEqualTo(A.rows());
    assertThat(GpuSparseQR.solve(rows()).x()).isEqualTo(GpuSparseQR.solve(plain).x());
  }

  @Test
  void storedRowsAreReadFromTheStore() {
    JavaRDD<SparseRow> stored = rows().persist(StorageLevel.MEMORY_ONLY());
    try {
      stored.count();
      assertThat(objects(stored).stream().mapToInt(k -> k).sum()).isEqualTo(A.rows());
      requireAll(stored.collect());
    } finally {
      stored.unpersist(true);
    }
  }

  @Test
  void newRightHandSidesBelongToTheirRows() {
    JavaRDD<double[]> other = rows().map(r -> new double[] {2 * r.labels()[0]});
    List<SparseRow> relabeled = RowSource.of(rows()).withLabels(other).rows().collect();
    List<SparseRow> expected = Problems.rows(A, B);
    for (int i = 0; i < expected.size(); i++) {
      assertThat(relabeled.get(i).indices()).isEqualTo(expected.get(i).indices());
      assertThat(relabeled.get(i).values()).isEqualTo(expected.get(i).values());
      assertThat(relabeled.get(i).labels()).containsExactly(2 * B[i]);
    }
  }
}
