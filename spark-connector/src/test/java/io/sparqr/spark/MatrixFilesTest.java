/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.error.DimensionMismatchException;
import io.sparqr.matrix.DenseMatrix;
import io.sparqr.matrix.MatrixMarketWriter;
import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.numeric.Tolerances;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.report.LeastSquaresSolution;
import io.sparqr.sparse.CsrMatrix;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Rows from files, by path and by URI. */
class MatrixFilesTest {

  private final JavaSparkContext context = LocalSpark.context();

  @TempDir Path folder;

  /** Rows of files stay until Spark's cleaner comes; other tests count what is left. */
  @AfterEach
  void leaveNothing() {
    context.getPersistentRDDs().values().forEach(rdd -> rdd.unpersist(true));
  }

  @Test
  void aFileIsSolvedAsItsMatrix() throws IOException {
    CsrMatrix a = Gallery.generate("cells2d12:rand");
    double[] x = new double[a.columns()];
    for (int j = 0; j < x.length; j++) {
      x[j] = Math.cos(j);
    }
    double[] b = a.multiply(x);
    Path matrix = folder.resolve("a.mtx");
    Path rhs = folder.resolve("b.mtx");
    MatrixMarketWriter.writeCoordinate(matrix, a);
    MatrixMarketWriter.writeArray(rhs, DenseMatrix.ofColumns(a.rows(), b));

    JavaRDD<SparseRow> rows =
        MatrixFiles.matrixMarket(context, matrix.toUri().toString(), rhs.toString());
    LeastSquaresSolution s = GpuSparseQR.solve(rows);

    assertThat(s.rank()).isEqualTo(a.columns());
    for (int j = 0; j < x.length; j++) {
      assertThat(Math.abs(s.x()[j] - x[j])).isLessThan(Tolerances.SOLUTION);
    }
    Path shorter = folder.resolve("c.mtx");
    MatrixMarketWriter.writeArray(shorter, DenseMatrix.ofColumns(1, new double[] {1}));
    assertThatThrownBy(
            () -> MatrixFiles.matrixMarket(context, matrix.toString(), shorter.toString()))
        .isInstanceOf(DimensionMismatchException.class);
    JavaRDD<SparseRow> bare = MatrixFiles.matrixMarket(context, matrix.toString());
    assertThat(bare.map(r -> r.labels()[0]).distinct().collect()).containsExactly(0.0);
    assertThat(bare.count()).isEqualTo(a.rows());
    try (QRFactorization f = GpuSparseQR.builder().keepQ(true).build().factorize(bare)) {
      assertThat(f.rank()).isEqualTo(a.columns());
      double[] later = f.solve(rows.map(SparseRow::labels)).x();
      assertThat(later)
          .containsExactly(x, org.assertj.core.api.Assertions.within(Tolerances.SOLUTION));
    }
  }

  @Test
  void libsvmBringsItsLabels() throws IOException {
    Path file = folder.resolve("a.svm");
    Files.writeString(file, "1 1:1\n3 1:1 2:1\n4 1:1 2:2\n8 1:1 2:3\n9 1:1 2:4\n");
    LeastSquaresSolution s = GpuSparseQR.solve(MatrixFiles.libsvm(context, file.toString()));
    assertThat(s.x()[0])
        .isCloseTo(0.8, org.assertj.core.data.Offset.offset(Tolerances.roundings(32, 2)));
    assertThat(s.x()[1])
        .isCloseTo(2.1, org.assertj.core.data.Offset.offset(Tolerances.roundings(32, 2)));
    assertThatThrownBy(() -> MatrixFiles.libsvm(context, folder.resolve("no.svm").toString()))
        .isInstanceOf(FileNotFoundException.class);
  }
}
