/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.input;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.SampledCases;
import io.sparqr.numeric.Tolerances;
import io.sparqr.spark.GpuSparseQR;
import io.sparqr.spark.LocalSpark;
import io.sparqr.spark.model.SparseRow;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Every form of --matrix, for the Python package. The problem is y = 1, 3, 4, 8, 9 at t = 0 to 4.
 */
class MatrixRowsTest {

  private static final double[] Y = {1, 3, 4, 8, 9};

  private static final MatrixRows.Beside NOTHING = new MatrixRows.Beside("", "", 0, false);

  @TempDir private Path folder;

  @SampledCases(oneIn = 3)
  @ParameterizedTest
  @ValueSource(strings = {"A.mtx", "A.csv", "A.svm"})
  void everyFormatTakesLabelsAndWeights(String name) throws IOException {
    String file = write(name);
    assertThat(MatrixRows.labeled(file)).isEqualTo(name.endsWith("svm"));
    Path raw = folder.resolve("beside");
    // the last row does not count
    Files.write(raw, bytes(1, 3, 4, 8, 9, 2, 6, 8, 16, 18, 1, 1, 1, 1, 0));
    var beside = new MatrixRows.Beside("", raw.toString(), 3, true);
    try (MatrixRows rows = MatrixRows.open(LocalSpark.session(), file, beside, 2)) {
      assertThat(rows.rowCount()).isEqualTo(5);
      assertThat(rows.columns()).isEqualTo(2);
      long[] cuts = rows.cuts();
      assertThat(cuts).hasSize(rows.rows().getNumPartitions() + 1).startsWith(0).endsWith(5);
      double[][] x = GpuSparseQR.solve(rows.rows()).solutions();
      assertThat(x[0])
          .containsExactly(new double[] {0.7, 2.2}, within(Tolerances.roundings(32, 2)));
      assertThat(x[1])
          .containsExactly(new double[] {1.4, 4.4}, within(Tolerances.roundings(32, 4)));
    }
  }

  @Test
  void weightsMayComeAlone() throws IOException {
    Path raw = folder.resolve("beside");
    Files.write(raw, bytes(5, 4, 3, 2, 1));
    var beside = new MatrixRows.Beside("", raw.toString(), 1, true);
    try (MatrixRows rows = MatrixRows.open(LocalSpark.session(), write("A.mtx"), beside, 2)) {
      List<SparseRow> read = rows.rows().collect();
      for (int i = 0; i < Y.length; i++) {
        assertThat(read.get(i).weight()).isEqualTo(5.0 - i);
        assertThat(read.get(i).labels()).containsExactly(0);
      }
    }
  }

  @Test
  void aFileOfLabelsAndALibsvmFilesOwn() throws IOException {
    Path b = folder.resolve("b.mtx");
    Files.writeString(b, "%%MatrixMarket matrix array real general\n5 1\n1\n3\n4\n8\n9\n");
    var beside = new MatrixRows.Beside(b.toString(), "", 0, false);
    for (MatrixRows.Beside labels : List.of(beside, NOTHING)) {
      String file = write(labels == NOTHING ? "A.svm" : "A.mtx");
      try (MatrixRows rows = MatrixRows.open(LocalSpark.session(), file, labels, 0)) {
        double[] x = GpuSparseQR.solve(rows.rows()).x();
        assertThat(x).containsExactly(new double[] {0.8, 2.1}, within(Tolerances.roundings(32, 2)));
      }
    }
  }

  @Test
  void namesThatAreNoneAreRefused() {
    var session = LocalSpark.session();
    assertThatThrownBy(() -> MatrixRows.open(session, "gen:nosuch", NOTHING, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .isNotInstanceOf(UsageException.class)
        .hasMessageContaining("nosuch");
    String none = folder.resolve("none.mtx").toString();
    assertThatThrownBy(() -> MatrixRows.open(session, none, NOTHING, 0))
        .isInstanceOf(NoSuchFileException.class);
    assertThatThrownBy(() -> MatrixRows.labeled(folder.toString()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("format is not clear");
  }

  /** Rows (1, t). */
  private String write(String name) throws IOException {
    Path file = folder.resolve(name);
    var text = new StringBuilder();
    boolean svm = name.endsWith("svm");
    boolean csv = name.endsWith("csv");
    if (name.endsWith("mtx")) {
      text.append("%%MatrixMarket matrix coordinate real general\n5 2 9\n");
    }
    for (int i = 0; i < Y.length; i++) {
      if (svm) {
        text.append(Y[i]).append(" 1:1").append(i == 0 ? "\n" : " 2:" + i + "\n");
        continue;
      }
      String pattern = csv ? "%d,%d,%d%n" : "%d %d %d%n";
      int base = csv ? 0 : 1;
      text.append(pattern.formatted(i + base, base, 1));
      text.append(i == 0 ? "" : pattern.formatted(i + base, 1 + base, i));
    }
    Files.writeString(file, text);
    return file.toString();
  }

  private static byte[] bytes(double... values) {
    ByteBuffer bytes = ByteBuffer.allocate(8 * values.length).order(ByteOrder.LITTLE_ENDIAN);
    bytes.asDoubleBuffer().put(values);
    return bytes.array();
  }
}
