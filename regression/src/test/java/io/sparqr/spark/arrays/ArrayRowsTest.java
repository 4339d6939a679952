/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.arrays;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.error.InsufficientMemoryException;
import io.sparqr.error.WireFormatException;
import io.sparqr.numeric.Tolerances;
import io.sparqr.spark.ForeignClasses;
import io.sparqr.spark.GpuSparseQR;
import io.sparqr.spark.LocalSpark;
import io.sparqr.spark.Problems;
import io.sparqr.spark.QRFactorization;
import io.sparqr.spark.factor.CollectedFactor;
import io.sparqr.spark.model.RFactor;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.sparse.CsrMatrix;
import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.ml.linalg.SparseVector;
import org.apache.spark.sql.Row;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Arrays in files as rows, and R as arrays in files. */
class ArrayRowsTest {

  private static final long SEED = 17;

  /** More entries than a buffer holds, a row that is longer than one, and rows without entries. */
  private static final int COLUMNS = 40_000;

  @TempDir private Path folder;

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void rowsAreThoseOfTheArrays(boolean send) throws IOException {
    CsrMatrix a = withLongAndEmptyRows();
    double[] b = Problems.rhs(2 * a.rows(), SEED);
    double[] w = Problems.rhs(a.rows(), SEED + 1);
    ArrayFolder source = write(a, b, 2, w);
    for (int partitions : new int[] {1, 3, 7}) {
      try (ArrayRows rows = ArrayRows.open(LocalSpark.context(), source, partitions, send)) {
        assertThat(rows.rows().getNumPartitions()).isEqualTo(partitions);
        List<SparseRow> read = rows.rows().collect();
        assertThat(read).hasSize(a.rows());
        for (int i = 0; i < a.rows(); i++) {
          int from = a.rowStart()[i];
          int to = a.rowStart()[i + 1];
          SparseRow r = read.get(i);
          assertThat(r.indices()).isEqualTo(Arrays.copyOfRange(a.columnIndex(), from, to));
          assertThat(r.values()).isEqualTo(Arrays.copyOfRange(a.values(), from, to));
          assertThat(r.labels()).containsExactly(b[2 * i], b[2 * i + 1]);
          assertThat(r.weight()).isEqualTo(w[i]);
          assertThat(r.columns()).isEqualTo(a.columns());
        }
      }
    }
  }

  /** As in a session of Spark Connect with a jar of its own, on a cluster. */
  @Test
  void broadcastRowsNeedNoClassesOfOurs() throws Exception {
    CsrMatrix a = Problems.random(50, 9, 3, SEED);
    double[] b = Problems.rhs(a.rows(), SEED);
    ArrayFolder source = write(a, b, 1, null);
    var loader = new ForeignClasses();
    Class<?> folders = loader.loadClass(ArrayFolder.class.getName());
    Object foreign = folders.getConstructors()[0].newInstance(source.folder(), 50L, 9, 1, false);
    Method open =
        loader
            .loadClass(ArrayRows.class.getName())
            .getDeclaredMethod("open", JavaSparkContext.class, folders, int.class, boolean.class);
    open.setAccessible(true);
    try (var rows = (AutoCloseable) open.invoke(null, LocalSpark.context(), foreign, 3, true)) {
      var rdd = (JavaRDD<?>) rows.getClass().getMethod("rows").invoke(rows);
      assertThat(GpuSparseQR.solve(rdd).x())
          .containsExactly(
              GpuSparseQR.solve(Problems.rdd(a, 3, b)).x(), within(Tolerances.REORDERED));
    }
  }

  @Test
  void partitionsHaveEqualWork() throws IOException {
    ArrayFolder source = write(withLongAndEmptyRows(), null, 0, null);
    long[] cuts = source.cuts(4);
    assertThat(cuts).hasSize(5).startsWith(0).endsWith(source.rows()).isSorted();
    assertThat(source.cuts(1000)).hasSize(1001);
    assertThat(source.cuts(1 << 20)).hasSize((int) source.rows() + 1);
    // the long row has more work than all others: no cut between it and the last but before it
    assertThat(cuts[1]).isEqualTo(cuts[2]).isEqualTo(cuts[3]).isEqualTo(601);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void labelsAreAlignedWithTheRows(boolean send) throws IOException {
    CsrMatrix a = Problems.random(200, 30, 4, SEED);
    double[] b = Problems.rhs(3 * a.rows(), SEED);
    Path file = folder.resolve("b");
    doubles(file, b);
    ArrayFolder source = write(a, null, 0, null);
    var context = LocalSpark.context();
    try (ArrayRows rows = ArrayRows.open(context, source, 3, send);
        ArrayLabels labels = ArrayLabels.open(context, file.toString(), 3, rows.cuts(), send);
        QRFactorization f = GpuSparseQR.builder().keepQ(true).factorize(rows.rows())) {
      double[][] x = f.solve(labels.labels()).solutions();
      for (int k = 0; k < 3; k++) {
        double[] column = new double[a.rows()];
        for (int i = 0; i < column.length; i++) {
          column[i] = b[3 * i + k];
        }
        double[] expected = GpuSparseQR.solve(Problems.rdd(a, 2, column)).x();
        assertThat(x[k]).containsExactly(expected, within(Tolerances.REORDERED));
      }
    }
    assertThatThrownBy(
            () -> ArrayLabels.open(context, file.toString(), 2, new long[] {0, 200}, send))
        .isInstanceOf(WireFormatException.class)
        .hasMessageContaining("4,800 bytes, not 3,200");
  }

  @Test
  void theTableHasVectorsLabelsAndWeights() throws IOException {
    CsrMatrix a = Problems.random(50, 9, 3, SEED);
    double[] b = Problems.rhs(a.rows(), SEED);
    double[] w = Problems.rhs(a.rows(), SEED + 1);
    try (ArrayRows rows = ArrayRows.open(LocalSpark.context(), write(a, b, 1, w), 2)) {
      List<Row> table = rows.table(LocalSpark.session()).collectAsList();
      for (int i = 0; i < a.rows(); i++) {
        SparseVector v = table.get(i).getAs("features");
        int from = a.rowStart()[i];
        assertThat(v.values()).isEqualTo(Arrays.copyOfRange(a.values(), from, a.rowStart()[i + 1]));
        assertThat(v.size()).isEqualTo(9);
        assertThat(table.get(i).<Double>getAs("label")).isEqualTo(b[i]);
        assertThat(table.get(i).<Double>getAs("weight")).isEqualTo(w[i]);
      }
    }
  }

  @Test
  void filesThatAreTooShortAreRefused() throws IOException {
    CsrMatrix a = Problems.random(20, 5, 3, SEED);
    ArrayFolder source = write(a, null, 0, null);
    byte[] data = Files.readAllBytes(folder.resolve("data"));
    Files.write(folder.resolve("data"), Arrays.copyOf(data, data.length - 8));
    assertThatThrownBy(() -> ArrayRows.open(LocalSpark.context(), source, 1))
        .isInstanceOf(WireFormatException.class)
        .hasMessageContaining("data has");
    Files.write(folder.resolve("data"), data);
    ArrayFolder weighted = new ArrayFolder(folder.toString(), 20, 5, 0, true);
    assertThatThrownBy(() -> ArrayRows.open(LocalSpark.context(), weighted, 1))
        .isInstanceOf(IOException.class);
    assertThatThrownBy(() -> new ArrayFolder(folder.toString(), 0, 5, 0, false))
        .isInstanceOf(IllegalArgumentException.class);
  }

  /** R'R = (AP)'(AP), with singletons and column scales that are not 1. */
  @Test
  void theFactorIsInTheCallersUnits() throws IOException {
    CsrMatrix a = Problems.withSingletons(Problems.random(120, 20, 4, SEED), 5, SEED);
    for (int k = 0; k < a.nonzeros(); k++) {
      a.values()[k] *= 1 + 100 * a.columnIndex()[k];
    }
    try (QRFactorization f =
        GpuSparseQR.builder().factorize(Problems.rdd(a, 2, Problems.rhs(a.rows(), SEED)))) {
      RFactor collected = f.collectR();
      int rank = FactorArrays.write(collected, folder.toString());
      assertThat(rank).isEqualTo(25);
      double[][] r = new double[rank][25];
      ByteBuffer start = read("indptr");
      ByteBuffer index = read("indices");
      ByteBuffer value = read("data");
      for (int i = 0; i < rank; i++) {
        for (int k = start.getInt(4 * i); k < start.getInt(4 * i + 4); k++) {
          assertThat(index.getInt(4 * k)).isGreaterThanOrEqualTo(i);
          r[i][index.getInt(4 * k)] = value.getDouble(8 * k);
        }
      }
      double[][] dense = new double[a.rows()][25];
      for (int i = 0; i < a.rows(); i++) {
        for (int k = a.rowStart()[i]; k < a.rowStart()[i + 1]; k++) {
          int p = collected.permutation().position(a.columnIndex()[k]);
          dense[i][p] = a.values()[k];
        }
      }
      for (int p = 0; p < 25; p++) {
        for (int q = 0; q < 25; q++) {
          double scale = Math.sqrt(product(dense, p, p) * product(dense, q, q));
          assertThat(product(r, p, q))
              .isCloseTo(product(dense, p, q), within(Tolerances.REORDERED * scale));
        }
      }
    }
  }

  @Test
  void aFactorBeyondHalfTheHeapIsRefused() {
    CollectedFactor.requireRoom(1_000_000, 1000, 100L << 20);
    assertThatThrownBy(() -> CollectedFactor.requireRoom(1_000_000, 1000, 60L << 20))
        .isInstanceOf(InsufficientMemoryException.class)
        .hasMessageContaining("R has 1,000,000 entries in 1,000 rows and takes 30 MB");
    assertThatThrownBy(() -> CollectedFactor.requireRoom(1L << 31, 1000, 1L << 40))
        .isInstanceOf(InsufficientMemoryException.class);
  }

  private static double product(double[][] a, int p, int q) {
    double sum = 0;
    for (double[] row : a) {
      sum += row[p] * row[q];
    }
    return sum;
  }

  /** Row 600 of 1,200 has all columns, every tenth row none. */
  private static CsrMatrix withLongAndEmptyRows() {
    CsrMatrix a = Problems.random(1200, COLUMNS, 10, SEED);
    int[] start = new int[a.rows() + 1];
    int[] index = new int[a.nonzeros() + COLUMNS];
    double[] value = Problems.rhs(index.length, SEED);
    int at = 0;
    for (int i = 0; i < a.rows(); i++) {
      if (i == 600) {
        for (int j = 0; j < COLUMNS; j++) {
          index[at++] = j;
        }
      } else if (i % 10 != 9) {
        int count = a.rowStart()[i + 1] - a.rowStart()[i];
        System.arraycopy(a.columnIndex(), a.rowStart()[i], index, at, count);
        at += count;
      }
      start[i + 1] = at;
    }
    return new CsrMatrix(
        a.rows(), COLUMNS, start, Arrays.copyOf(index, at), Arrays.copyOf(value, at));
  }

  private ArrayFolder write(CsrMatrix a, double[] b, int k, double[] w) throws IOException {
    ByteBuffer start = buffer(8 * (a.rows() + 1));
    for (int i = 0; i <= a.rows(); i++) {
      start.putLong(a.rowStart()[i]);
    }
    Files.write(folder.resolve("indptr"), start.array());
    ByteBuffer index = buffer(4 * a.nonzeros());
    index.asIntBuffer().put(a.columnIndex(), 0, a.nonzeros());
    Files.write(folder.resolve("indices"), index.array());
    doubles(folder.resolve("data"), Arrays.copyOf(a.values(), a.nonzeros()));
    if (k > 0) {
      doubles(folder.resolve("labels"), b);
    }
    if (w != null) {
      doubles(folder.resolve("weights"), w);
    }
    return new ArrayFolder(folder.toString(), a.rows(), a.columns(), k, w != null);
  }

  private static void doubles(Path file, double[] values) throws IOException {
    ByteBuffer bytes = buffer(8 * values.length);
    bytes.asDoubleBuffer().put(values);
    Files.write(file, bytes.array());
  }

  private ByteBuffer read(String name) throws IOException {
    return ByteBuffer.wrap(Files.readAllBytes(folder.resolve(name))).order(ByteOrder.LITTLE_ENDIAN);
  }

  private static ByteBuffer buffer(int bytes) {
    return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }
}
