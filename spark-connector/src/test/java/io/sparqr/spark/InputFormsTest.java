/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.error.MatrixFormatException;
import io.sparqr.numeric.Tolerances;
import io.sparqr.spark.model.RowColumns;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.report.LeastSquaresSolution;
import io.sparqr.sparse.CsrMatrix;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.mllib.linalg.Vectors;
import org.apache.spark.mllib.regression.LabeledPoint;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.Test;

/** Every form of input gives the same answer as the plainest; odd shapes are handled. */
class InputFormsTest {

  private static final long SEED = 20260105L;
  private static final CsrMatrix A = Problems.random(50, 12, 3, SEED);
  private static final double[] B = Problems.rhs(50, SEED + 1);
  private static final double[] C = Problems.rhs(50, SEED + 2);

  private static void sameAsDense(LeastSquaresSolution s) {
    double[] x = Problems.solveDense(Problems.dense(A), B);
    assertThat(s.x()).containsExactly(x, within(Tolerances.SOLUTION));
  }

  @Test
  void labeledPointsOfBothLibrariesInJavaAndScalaRdds() {
    List<LabeledPoint> mllib = new ArrayList<>();
    List<org.apache.spark.ml.feature.LabeledPoint> ml = new ArrayList<>();
    for (SparseRow r : Problems.rows(A, B)) {
      double label = r.labels()[0];
      mllib.add(new LabeledPoint(label, Vectors.sparse(12, r.indices(), r.values())));
      var v = org.apache.spark.ml.linalg.Vectors.sparse(12, r.indices(), r.values());
      ml.add(new org.apache.spark.ml.feature.LabeledPoint(label, label > 0 ? v : v.toDense()));
    }
    sameAsDense(GpuSparseQR.solve(LocalSpark.context().parallelize(mllib, 2)));
    sameAsDense(GpuSparseQR.solve(LocalSpark.context().parallelize(mllib, 2).rdd()));
    sameAsDense(GpuSparseQR.solve(LocalSpark.context().parallelize(ml, 3)));
    sameAsDense(GpuSparseQR.builder().solve(LocalSpark.context().parallelize(ml, 3).rdd()));
  }

  @Test
  void datasetsWithWeightsAndSeveralLabels() {
    List<Row> rows = new ArrayList<>();
    int i = 0;
    for (SparseRow r : Problems.rows(A, B)) {
      var v = org.apache.spark.ml.linalg.Vectors.sparse(12, r.indices(), r.values());
      rows.add(RowFactory.create(v, B[i], (float) C[i++], 1));
    }
    rows.add(RowFactory.create(org.apache.spark.ml.linalg.Vectors.zeros(12), 5.0, 5.0f, 0));
    var schema =
        new StructType()
            .add("features", org.apache.spark.ml.linalg.SQLDataTypes.VectorType())
            .add("label", DataTypes.DoubleType)
            .add("second", DataTypes.FloatType)
            .add("w", DataTypes.IntegerType);
    var data = LocalSpark.session().createDataFrame(rows, schema);
    sameAsDense(
        GpuSparseQR.builder()
            .build()
            .solve(data, RowColumns.of("features", "label").weighted("w")));
    LeastSquaresSolution both =
        GpuSparseQR.builder()
            .build()
            .solve(data, RowColumns.of("features", "label", "second").weighted("w"));
    sameAsDense(both);
    assertThat(both.rhsCount()).isEqualTo(2);
    assertThat(both.report().matrix().rows()).isEqualTo(50);

    List<Row> holes = List.of(RowFactory.create(rows.get(0).get(0), null, 1f, 1));
    var bad = LocalSpark.session().createDataFrame(holes, schema);
    assertThatThrownBy(() -> GpuSparseQR.solve(bad))
        .isInstanceOf(MatrixFormatException.class)
        .hasMessageContaining("null label");
  }

  @Test
  void emptyRowsAndColumnsAreFine() {
    List<SparseRow> rows = new ArrayList<>(Problems.rows(A, B));
    for (int k = 0; k < rows.size(); k++) {
      SparseRow r = rows.get(k);
      rows.set(k, new SparseRow(r.indices(), r.values(), r.labels(), 1, -1));
    }
    rows.add(7, new SparseRow(new int[0], new double[0], 3.0));
    rows.add(new SparseRow(new int[] {2}, new double[] {0}, 4.0));
    LeastSquaresSolution s =
        GpuSparseQR.builder().columns(15).solve(LocalSpark.context().parallelize(rows, 3));
    double[] x = Problems.solveDense(Problems.dense(A), B);
    double inner = Problems.norm(Problems.residual(A, x, B));
    assertThat(java.util.Arrays.copyOf(s.x(), 12)).containsExactly(x, within(Tolerances.SOLUTION));
    assertThat(s.deadColumns()).containsExactly(12, 13, 14);
    assertThat(s.rank()).isEqualTo(12);
    assertThat(s.residualNorm()).isCloseTo(Math.hypot(inner, 5), within(Tolerances.REORDERED));
    assertThat(s.report().matrix().rows()).isEqualTo(52);
  }

  @Test
  void onlyEmptyRowsHaveNoRank() {
    var rows = List.of(new SparseRow(new int[0], new double[0], 3.0));
    LeastSquaresSolution s =
        GpuSparseQR.builder().columns(2).solve(LocalSpark.context().parallelize(rows, 1));
    assertThat(s.rank()).isZero();
    assertThat(s.x()).containsExactly(0, 0);
    assertThat(s.residualNorm()).isEqualTo(3);
    assertThat(s.deadColumns()).containsExactly(0, 1);
  }

  @Test
  void wideAndTriangularMatricesHaveBasicSolutions() {
    CsrMatrix wide = Problems.random(10, 30, 6, SEED);
    double[] b = Problems.rhs(10, SEED);
    LeastSquaresSolution s = GpuSparseQR.solve(Problems.rdd(wide, 2, b));
    assertThat(s.rank()).isEqualTo(10);
    assertThat(s.deadColumns()).hasSize(20);
    assertThat(Problems.norm(Problems.residual(wide, s.x(), b)))
        .isLessThan(Tolerances.of(10, 30, Problems.norm(b)));
    assertThat(s.residualNorm()).isLessThan(Tolerances.of(10, 30, Problems.norm(b)));

    // nothing but singletons: no front at all
    List<SparseRow> rows = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      rows.add(
          i < 5
              ? new SparseRow(new int[] {i, i + 1}, new double[] {2, 1}, 5)
              : new SparseRow(new int[] {5}, new double[] {2}, 4));
    }
    LeastSquaresSolution t = GpuSparseQR.solve(LocalSpark.context().parallelize(rows, 2));
    assertThat(t.report().analysis().fronts()).isZero();
    assertThat(t.x()[5]).isEqualTo(2);
    assertThat(t.x()[4]).isEqualTo(1.5);
    assertThat(t.residualNorm()).isZero();
  }

  @Test
  void aSingletonWithoutWorthIsAnalyzedAgain() {
    List<SparseRow> rows = new ArrayList<>(Problems.rows(A, B));
    for (int k = 0; k < rows.size(); k++) {
      SparseRow r = rows.get(k);
      rows.set(k, new SparseRow(r.indices(), r.values(), r.labels(), 1, -1));
    }
    rows.add(new SparseRow(new int[] {0, 12}, new double[] {1, 1e-30}, 1.0));
    LeastSquaresSolution s =
        GpuSparseQR.builder().equilibrate(false).solve(LocalSpark.context().parallelize(rows, 2));
    assertThat(s.rank()).isEqualTo(12);
    assertThat(s.deadColumns()).containsExactly(12);
    assertThat(s.report().warnings()).anyMatch(w -> w.contains("column 12"));
    double[][] dense = java.util.Arrays.copyOf(Problems.dense(A), 51);
    dense[50] = new double[12];
    dense[50][0] = 1;
    double[] b = java.util.Arrays.copyOf(B, 51);
    b[50] = 1;
    assertThat(java.util.Arrays.copyOf(s.x(), 12))
        .containsExactly(Problems.solveDense(dense, b), within(Tolerances.SOLUTION));
  }

  @Test
  void ridgeIsThatManyFurtherRows() {
    double lambda = 0.7;
    CsrMatrix wide = Problems.random(10, 30, 6, SEED);
    for (CsrMatrix a : List.of(A, wide)) {
      double[] b = Problems.rhs(a.rows(), SEED);
      LeastSquaresSolution s =
          GpuSparseQR.builder().ridge(lambda).check(true).solve(Problems.rdd(a, 2, b));
      int n = a.columns();
      double[][] dense = java.util.Arrays.copyOf(Problems.dense(a), a.rows() + n);
      for (int j = 0; j < n; j++) {
        dense[a.rows() + j] = new double[n];
        dense[a.rows() + j][j] = Math.sqrt(lambda);
      }
      double[] x = Problems.solveDense(dense, java.util.Arrays.copyOf(b, a.rows() + n));
      assertThat(s.x()).containsExactly(x, within(Tolerances.SOLUTION));
      assertThat(s.residualNorm())
          .isCloseTo(Problems.norm(Problems.residual(a, x, b)), within(Tolerances.REORDERED));
      assertThat(s.report().residual().normalResidual()).isLessThan(Tolerances.NORMAL_RESIDUAL);
    }
  }

  @Test
  void shuffledBytesDoNotGrowWithTheRows() {
    // 300 rows a partition saturate the fronts of 8 columns; more rows cost nothing
    CsrMatrix small = Problems.random(4_000, 8, 4, SEED);
    CsrMatrix large = Problems.random(40_000, 8, 4, SEED);
    double[] b = Problems.rhs(40_000, SEED);
    var few = GpuSparseQR.solve(Problems.rdd(small, 2, java.util.Arrays.copyOf(b, 4_000)));
    var many = GpuSparseQR.builder().check(true).solve(Problems.rdd(large, 2, b));
    assertThat(many.report().traffic().shuffleBytes())
        .isLessThan(2 * few.report().traffic().shuffleBytes());
    assertThat(many.report().traffic().shuffleBytes()).isLessThan(40_000);
    assertThat(many.report().residual().normalResidual()).isLessThan(Tolerances.NORMAL_RESIDUAL);
    assertThat(many.x())
        .containsExactly(
            Problems.solveDense(Problems.dense(large), b), within(Tolerances.SOLUTION));
    assertThat(many.residualNorm())
        .isCloseTo(
            Problems.norm(Problems.residual(large, many.x(), b)),
            within(Tolerances.REORDERED * many.residualNorm()));
  }
}
