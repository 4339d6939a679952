/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.tall;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.ludovic.netlib.lapack.JavaLAPACK;
import io.sparqr.SampledCases;
import io.sparqr.backend.BackendChoice;
import io.sparqr.backend.reference.PlainDevice;
import io.sparqr.error.BackendUnavailableException;
import io.sparqr.error.DimensionMismatchException;
import io.sparqr.error.InputChangedException;
import io.sparqr.error.MatrixFormatException;
import io.sparqr.error.NonFiniteValueException;
import io.sparqr.error.RankDeficientException;
import io.sparqr.jvm.JvmState;
import io.sparqr.numeric.Tolerances;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.spark.GpuSparseQR;
import io.sparqr.spark.LocalSpark;
import io.sparqr.spark.QRFactorization;
import io.sparqr.spark.model.RFactor;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.sparse.CsrMatrix;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.ml.linalg.DenseMatrix;
import org.apache.spark.ml.linalg.VectorUDT;
import org.apache.spark.ml.linalg.Vectors;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.netlib.util.intW;

/**
 * Q'Q = I and A = QR column by column, in units of eps, whatever the partitions and the condition.
 */
class TallSkinnyQRTest {

  /** By partition, how often it has been read: its rows change with that. */
  private static final AtomicInteger READ = new AtomicInteger();

  private static double[][] random(int m, int n, long seed) {
    var random = new Random(seed);
    double[][] a = new double[m][n];
    for (double[] row : a) {
      for (int k = 0; k < n; k++) {
        row[k] = random.nextGaussian();
      }
    }
    return a;
  }

  /** Rows in partitions of these sizes. */
  private static JavaRDD<double[]> rows(double[][] a, int... sizes) {
    List<Integer> numbers = IntStream.range(0, sizes.length).boxed().toList();
    return LocalSpark.context()
        .parallelize(numbers, sizes.length)
        .mapPartitionsWithIndex(
            (p, it) -> {
              int from = IntStream.of(sizes).limit(p).sum();
              return Arrays.asList(a).subList(from, from + sizes[p]).iterator();
            },
            true);
  }

  private static int[] equal(int m, int partitions) {
    return IntStream.range(0, partitions)
        .map(p -> m * (p + 1) / partitions - m * p / partitions)
        .toArray();
  }

  private static double norm(double[][] a, int column) {
    double most = 0;
    for (double[] row : a) {
      most = Math.max(most, Math.abs(row[column]));
    }
    double sum = 0;
    for (double[] row : a) {
      double x = most == 0 ? 0 : row[column] / most;
      sum = Math.fma(x, x, sum);
    }
    return most * Math.sqrt(sum);
  }

  private static void requireOrthonormal(List<double[]> q, int n) {
    for (int a = 0; a < n; a++) {
      for (int b = 0; b <= a; b++) {
        double sum = 0;
        for (double[] row : q) {
          sum = Math.fma(row[a], row[b], sum);
        }
        assertThat(Math.abs(sum - (a == b ? 1 : 0)))
            .as("columns %d and %d of Q", a, b)
            .isLessThanOrEqualTo(Tolerances.of(q.size(), n, 1));
      }
    }
  }

  private static void check(TallSkinnyQR qr, double[][] a, int n) {
    int m = a.length;
    assertThat(qr.rows()).isEqualTo(m);
    assertThat(qr.columns()).isEqualTo(n);
    DenseMatrix r = qr.r();
    for (int j = 0; j < n; j++) {
      assertThat(r.apply(j, j)).isGreaterThanOrEqualTo(0);
      for (int i = j + 1; i < n; i++) {
        assertThat(r.apply(i, j)).isZero();
      }
    }
    List<double[]> q = qr.q().collect();
    assertThat(q).hasSize(m);
    requireOrthonormal(q, n);
    for (int j = 0; j < n; j++) {
      double norm = norm(a, j);
      double most = 0;
      for (int i = 0; i < m; i++) {
        double sum = -a[i][j];
        for (int k = 0; k <= j; k++) {
          sum = Math.fma(q.get(i)[k], r.apply(k, j), sum);
        }
        most = Math.max(most, Math.abs(sum));
      }
      assertThat(most).as("column %d", j).isLessThanOrEqualTo(Tolerances.of(m, n, norm));
    }
  }

  /** Partitions of equal size, fewer rows than columns in each among them. */
  @SampledCases(oneIn = 3)
  @ParameterizedTest
  @CsvSource({"40, 8, 1", "300, 12, 2", "300, 12, 7", "60, 12, 10", "500, 70, 4", "9, 9, 3"})
  void factorsRowsInPartitions(int m, int n, int partitions) {
    double[][] a = random(m, n, 3L * m + n);
    JavaRDD<double[]> rows = rows(a, equal(m, partitions));
    for (QStorage storage : new QStorage[] {QStorage.STORED, QStorage.RECOMPUTED}) {
      try (var qr = TallSkinnyQR.builder().keepQ(storage).factorize(rows)) {
        check(qr, a, n);
      }
    }
    try (var one = TallSkinnyQR.builder().factorize(rows(a, m));
        var qr = TallSkinnyQR.builder().factorize(rows);
        var again = TallSkinnyQR.builder().keepQ(QStorage.STORED).factorize(rows)) {
      assertThat(again.r().toArray()).isEqualTo(qr.r().toArray());
      assertThat(again.q().collect()).usingRecursiveComparison().isEqualTo(qr.q().collect());
      double[] expected = one.r().toArray();
      double size = Math.sqrt((double) m * n);
      for (int k = 0; k < expected.length; k++) {
        assertThat(qr.r().toArray()[k])
            .isCloseTo(expected[k], within(Tolerances.ofSolution(100, size)));
      }
    }
  }

  /** Another way to the same R: fronts, reflectors of sparse rows, column norms of its own. */
  @Test
  void rIsThatOfTheSparseFactorization() {
    int m = 400;
    int n = 23;
    double[][] a = random(m, n, 61);
    int[] all = IntStream.range(0, n).toArray();
    JavaRDD<double[]> rows = rows(a, equal(m, 3));
    try (TallSkinnyQR qr = TallSkinnyQR.builder().factorize(rows);
        QRFactorization sparse =
            GpuSparseQR.builder()
                .backend(BackendChoice.CPU)
                .ordering(OrderingMethod.NATURAL)
                .factorize(rows.map(v -> new SparseRow(all, v, 0.0)))) {
      RFactor expected = sparse.collectR();
      CsrMatrix values = expected.matrix();
      assertThat(values.rows()).isEqualTo(n);
      assertThat(values.nonzeros()).isEqualTo(n * (n + 1) / 2);
      for (int i = 0; i < n; i++) {
        assertThat(expected.permutation().original(i)).isEqualTo(i);
        for (int k = values.rowStart()[i]; k < values.rowStart()[i + 1]; k++) {
          int j = values.columnIndex()[k];
          double entry = values.values()[k] / expected.scale()[j];
          assertThat(qr.r().apply(i, j))
              .as("R %d, %d", i, j)
              .isCloseTo(entry, within(Tolerances.of(m, n, norm(a, j))));
        }
      }
    }
  }

  @Test
  void partitionsMayBeEmptyAnywhere() {
    double[][] a = random(50, 6, 1);
    for (int[] sizes :
        new int[][] {{0, 50}, {50, 0, 0}, {0, 0, 3, 0, 44, 0, 2, 1, 0}, {0, 0, 0, 0, 0, 50}}) {
      for (int arity : new int[] {2, 3, 100}) {
        try (var qr = TallSkinnyQR.builder().arity(arity).factorize(rows(a, sizes))) {
          check(qr, a, 6);
        }
      }
    }
  }

  /** Where A R^-1 has no orthogonal columns. */
  @Test
  void qIsOrthonormalWhateverTheCondition() {
    int m = 90;
    int n = 15;
    double[][] hilbert = new double[m][n];
    double[][] vandermonde = new double[m][n];
    double[][] laeuchli = new double[m][n];
    double[][] graded = random(m, n, 8);
    double[][] twins = random(m, n, 9);
    for (int i = 0; i < m; i++) {
      for (int j = 0; j < n; j++) {
        hilbert[i][j] = 1.0 / (i + j + 1);
        vandermonde[i][j] = Math.pow((i + 1.0) / m, j);
        laeuchli[i][j] = i == 0 ? 1 : i == j + 1 ? 0x1p-40 : 0;
        graded[i][j] *= Math.pow(10, -300 + 600.0 * j / (n - 1));
        twins[i][j] = twins[i][j - j % 2];
      }
    }
    for (double[][] a : List.of(hilbert, vandermonde, laeuchli, graded, twins, new double[m][n])) {
      try (var qr = TallSkinnyQR.builder().factorize(rows(a, equal(m, 5)))) {
        check(qr, a, n);
      }
    }
  }

  /** SPARK-19184's matrix, of which MLlib's Q'Q has an entry of 2.4e26. */
  @Test
  void qIsOrthonormalWhereThatOfMllibIsNot() {
    double[][] a = {{1, 1, 1, 1}, {0, 1e-5, 1, 1}, {0, 0, 1e-10, 1}, {0, 0, 0, 1e-14}};
    for (int partitions : new int[] {1, 2, 4}) {
      try (var qr = TallSkinnyQR.builder().factorize(rows(a, equal(4, partitions)))) {
        check(qr, a, 4);
      }
    }
  }

  @Test
  void solutionsAndProductsAreThoseOfQ() {
    int m = 400;
    int n = 10;
    int width = 4;
    double[][] a = random(m, n, 20);
    double[][] b = random(m, width, 21);
    int[] sizes = equal(m, 6);
    try (var qr = TallSkinnyQR.builder().keepQ(QStorage.STORED).factorize(rows(a, sizes))) {
      DenseMatrix ofA = qr.qTransposed(rows(a, sizes));
      for (int k = 0; k < n * n; k++) {
        assertThat(ofA.toArray()[k])
            .isCloseTo(qr.r().toArray()[k], within(Tolerances.of(m, n, Math.sqrt(m))));
      }
      DenseMatrix x = qr.solve(rows(b, sizes));
      assertThat(x.numRows()).isEqualTo(n);
      assertThat(x.numCols()).isEqualTo(width);
      for (int k = 0; k < width; k++) {
        double[] gradient = new double[n];
        double squares = 0;
        for (int i = 0; i < m; i++) {
          double r = b[i][k];
          for (int j = 0; j < n; j++) {
            r = Math.fma(-a[i][j], x.apply(j, k), r);
          }
          squares = Math.fma(r, r, squares);
          for (int j = 0; j < n; j++) {
            gradient[j] = Math.fma(a[i][j], r, gradient[j]);
          }
        }
        for (int j = 0; j < n; j++) {
          assertThat(Math.abs(gradient[j]))
              .isLessThanOrEqualTo(Tolerances.ofProduct(m, n, norm(a, j), Math.sqrt(squares)));
        }
      }
      List<double[]> back = qr.qTimes(qr.r()).collect();
      for (int i = 0; i < m; i++) {
        for (int j = 0; j < n; j++) {
          assertThat(back.get(i)[j]).isCloseTo(a[i][j], within(Tolerances.of(m, n, norm(a, j))));
        }
      }
    }
  }

  /** Condition 1e8: sums of squares would have no digit of the smallest values. */
  @Test
  void singularValuesHaveAllTheirDigits() {
    int m = 200;
    int n = 8;
    double[][] a = random(m, n, 30);
    for (double[] row : a) {
      for (int j = 0; j < n; j++) {
        row[j] *= Math.pow(10, -8.0 * j / (n - 1));
      }
    }
    double[] whole = new double[m * n];
    for (int i = 0; i < m; i++) {
      for (int j = 0; j < n; j++) {
        whole[i + j * m] = a[i][j];
      }
    }
    double[] expected = new double[n];
    double[] work = new double[20_000];
    var info = new intW(0);
    JavaLAPACK.getInstance()
        .dgesvd(
            "N",
            "N",
            m,
            n,
            whole,
            m,
            expected,
            new double[1],
            1,
            new double[1],
            1,
            work,
            work.length,
            info);
    try (var qr = TallSkinnyQR.builder().factorize(rows(a, equal(m, 4)))) {
      TallSkinnyQR.Svd svd = qr.svd(n);
      for (int k = 0; k < n; k++) {
        assertThat(svd.sigma()[k]).isCloseTo(expected[k], within(Tolerances.of(n, n, expected[0])));
      }
      requireOrthonormal(svd.u().collect(), n);
      List<double[]> v = new ArrayList<>();
      svd.v().rowIter().foreach(row -> v.add(row.toArray()));
      requireOrthonormal(v, n);
      List<double[]> u = svd.u().collect();
      for (int i = 0; i < m; i++) {
        for (int j = 0; j < n; j++) {
          double sum = 0;
          for (int k = 0; k < n; k++) {
            sum += u.get(i)[k] * svd.sigma()[k] * svd.v().apply(j, k);
          }
          assertThat(sum).isCloseTo(a[i][j], within(Tolerances.of(m, n, expected[0])));
        }
      }
      assertThat(qr.svd(3).sigma()).hasSize(3);
      assertThat(qr.svd(3).u().first()).hasSize(3);
      assertThatThrownBy(() -> qr.svd(9)).isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void theRankIsThatOfPivotedColumns() {
    double[][] a = random(100, 7, 40);
    for (double[] row : a) {
      row[3] = row[0] + row[1];
      row[5] = 0;
    }
    try (var qr = TallSkinnyQR.builder().factorize(rows(a, equal(100, 3)))) {
      TallSkinnyQR.Rank rank = qr.rank(Tolerances.UNITS * Tolerances.EPS);
      assertThat(rank.rank()).isEqualTo(5);
      assertThat(Arrays.stream(rank.permutation()).limit(5).toArray()).doesNotContain(5);
      assertThat(Arrays.stream(rank.permutation()).sorted().toArray())
          .isEqualTo(IntStream.range(0, 7).toArray());
      assertThatThrownBy(() -> qr.solve(rows(random(100, 1, 1), equal(100, 3))))
          .isInstanceOf(RankDeficientException.class)
          .hasMessage("column 5 is a combination of those before it");
    }
  }

  @Test
  void everyFormOfRowsIsTaken() {
    double[][] a = random(30, 4, 50);
    JavaRDD<double[]> rows = rows(a, 20, 10);
    double[] expected;
    try (var qr = TallSkinnyQR.builder().factorize(rows)) {
      expected = qr.r().toArray();
    }
    int[] all = {0, 1, 2, 3};
    Dataset<Row> table =
        LocalSpark.session()
            .createDataFrame(
                rows.map(row -> RowFactory.create(Vectors.dense(row))),
                DataTypes.createStructType(
                    new StructField[] {
                      DataTypes.createStructField("features", new VectorUDT(), false)
                    }));
    for (JavaRDD<?> form :
        List.of(
            rows.map(Vectors::dense),
            rows.map(row -> org.apache.spark.mllib.linalg.Vectors.dense(row)),
            rows.map(row -> new SparseRow(all, row, new double[0], 1, 4)))) {
      try (var qr = TallSkinnyQR.builder().factorize(form)) {
        assertThat(qr.r().toArray()).isEqualTo(expected);
      }
    }
    try (var qr = TallSkinnyQR.builder().factorize(table, "features")) {
      assertThat(qr.r().toArray()).isEqualTo(expected);
    }
  }

  @Test
  void badInputIsOneError() {
    double[][] a = random(20, 3, 60);
    TallSkinnyQR.Builder builder = TallSkinnyQR.builder();
    assertThatThrownBy(() -> builder.factorize(rows(a, 0, 0)))
        .isInstanceOf(MatrixFormatException.class)
        .hasMessage("the input has no rows");
    assertThatThrownBy(() -> builder.factorize(rows(random(4, 9, 1), 2, 2)))
        .isInstanceOf(DimensionMismatchException.class)
        .hasMessage("4 rows, 9 columns: a tall matrix has at least as many rows as columns");
    double[][] ragged = a.clone();
    ragged[7] = new double[4];
    assertThatThrownBy(() -> builder.factorize(rows(ragged, 5, 15)))
        .isInstanceOf(DimensionMismatchException.class)
        .hasMessage("row 2 of partition 1 has 4 values, those before it 3");
    double[][] nan = {{1, 2, 3}, {4, Double.NaN, 6}, {7, 8, 9}};
    assertThatThrownBy(() -> builder.factorize(rows(nan, 3)))
        .isInstanceOf(NonFiniteValueException.class)
        .hasMessage("row 1 of partition 0 has NaN in column 1");
    assertThatThrownBy(
            () -> builder.factorize(LocalSpark.context().parallelize(List.of("a", "b"), 1)))
        .isInstanceOf(MatrixFormatException.class)
        .hasMessageStartingWith("row 0 of partition 0 is a java.lang.String");
    SparseRow right = new SparseRow(new int[] {1}, new double[] {2}, new double[0], 1, 3);
    for (var wrong :
        List.of(
            new SparseRow(new int[] {3}, new double[] {1}, new double[0], 1, 3),
            new SparseRow(new int[] {1, 1}, new double[] {1, 2}, new double[0], 1, 3),
            new SparseRow(new int[] {0}, new double[] {1}, new double[0], 0.5, 3))) {
      assertThatThrownBy(
              () -> builder.factorize(LocalSpark.context().parallelize(List.of(right, wrong), 1)))
          .isInstanceOf(MatrixFormatException.class)
          .hasMessageStartingWith("row 1 of partition 0");
    }
    int before = LocalSpark.context().getPersistentRDDs().size();
    assertThatThrownBy(
            () ->
                TallSkinnyQR.builder()
                    .keepQ(QStorage.STORED)
                    .factorize(rows(random(4, 9, 1), 2, 2)))
        .isInstanceOf(DimensionMismatchException.class);
    assertThat(LocalSpark.context().getPersistentRDDs()).hasSize(before);
    double[][] labels = random(20, 1, 1);
    labels[6][0] = Double.POSITIVE_INFINITY;
    try (var qr = TallSkinnyQR.builder().factorize(rows(a, 5, 15))) {
      assertThatThrownBy(() -> qr.solve(rows(labels, 5, 15)))
          .isInstanceOf(NonFiniteValueException.class)
          .hasMessage("row 1 of a partition of right-hand sides has Infinity at 0");
    }
    assertThatThrownBy(() -> builder.arity(1)).isInstanceOf(IllegalArgumentException.class);
    try (var qr = TallSkinnyQR.builder().factorize(rows(a, 5, 15))) {
      assertThatThrownBy(() -> qr.solve(rows(random(20, 1, 1), 6, 14)))
          .isInstanceOf(DimensionMismatchException.class)
          .hasMessageStartingWith("a partition of right-hand sides has ");
      assertThatThrownBy(() -> qr.solve(rows(random(20, 1, 1), 20)))
          .isInstanceOf(DimensionMismatchException.class)
          .hasMessage("1 partitions, the matrix has 2");
      assertThatThrownBy(() -> qr.qTimes(DenseMatrix.eye(4)))
          .isInstanceOf(DimensionMismatchException.class);
    }
    TallSkinnyQR closed = TallSkinnyQR.builder().factorize(rows(a, 5, 15));
    closed.close();
    assertThatThrownBy(closed::q).isInstanceOf(IllegalStateException.class);
    try (var qr = TallSkinnyQR.builder().keepQ(QStorage.NONE).factorize(rows(a, 5, 15))) {
      assertThat(qr.r().numCols()).isEqualTo(3);
      assertThatThrownBy(qr::q)
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("Q was not kept: keepQ(STORED) or keepQ(RECOMPUTED)");
    }
  }

  @Test
  void rowsThatChangeBetweenReadingsAreSeen() {
    double[][] a = random(40, 3, 70);
    JavaRDD<double[]> changing =
        LocalSpark.context()
            .parallelize(List.of(0, 1), 2)
            .mapPartitionsWithIndex((p, it) -> swapped(p, a), true);
    READ.set(0);
    try (var qr = TallSkinnyQR.builder().factorize(changing)) {
      assertThatThrownBy(() -> qr.q().collect())
          .hasStackTraceContaining(InputChangedException.class.getName())
          .hasStackTraceContaining("partition 1 had other rows when it was read again");
    }
  }

  /** From the second reading on, two rows of partition 1 have changed places. */
  private static Iterator<double[]> swapped(int partition, double[][] a) {
    List<double[]> rows =
        new ArrayList<>(Arrays.asList(a).subList(20 * partition, 20 * partition + 20));
    if (partition == 1 && READ.getAndIncrement() > 0) {
      Collections.swap(rows, 3, 4);
    }
    return rows.iterator();
  }

  /** The device's tasks in plain Java, as in tests of all else around a device. */
  @Test
  void aDeviceReducesRowsWhereRAloneIsWanted() {
    double[][] a = random(900, 30, 11);
    int[] sizes = {400, 0, 20, 480};
    TallSkinnyQR.Builder alone = TallSkinnyQR.builder().keepQ(QStorage.NONE);
    double[] expected;
    try (TallSkinnyQR qr = alone.backend(BackendChoice.CPU).factorize(rows(a, sizes))) {
      expected = qr.r().toArray();
      assertThat(qr.partitionsOnDevices()).isZero();
    }
    String before = System.setProperty(PlainDevice.ON, "true");
    try {
      int factored = PlainDevice.factored();
      alone.backend(BackendChoice.REQUIRE_CUDA);
      try (TallSkinnyQR qr = alone.factorize(rows(a, sizes));
          TallSkinnyQR again = alone.factorize(rows(a, sizes))) {
        assertThat(qr.partitionsOnDevices()).isEqualTo(3);
        assertThat(PlainDevice.factored()).isEqualTo(factored + 6);
        assertThat(qr.rows()).isEqualTo(900);
        assertThat(again.r().toArray()).isEqualTo(qr.r().toArray());
        double[] r = qr.r().toArray();
        for (int e = 0; e < r.length; e++) {
          double norm = norm(a, e / 30);
          assertThat(r[e]).isCloseTo(expected[e], within(Tolerances.of(900, 30, 10 * norm)));
        }
      }
      assertThat(JvmState.current().held()).doesNotContainKey("devices' chunks of tall matrices");
      // too few columns to be worth a device
      try (TallSkinnyQR qr = alone.backend(BackendChoice.AUTO).factorize(rows(a, sizes))) {
        assertThat(qr.partitionsOnDevices()).isZero();
        assertThat(qr.r().toArray()).isEqualTo(expected);
      }
      assertThatThrownBy(
              () ->
                  TallSkinnyQR.builder()
                      .backend(BackendChoice.REQUIRE_CUDA)
                      .factorize(rows(a, sizes)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("keepQ(NONE)");
    } finally {
      if (before == null) {
        System.clearProperty(PlainDevice.ON);
      } else {
        System.setProperty(PlainDevice.ON, before);
      }
    }
  }

  @Test
  void aDeviceThatIsRequiredMustBeThere() {
    TallSkinnyQR.Builder alone =
        TallSkinnyQR.builder().keepQ(QStorage.NONE).backend(BackendChoice.REQUIRE_CUDA);
    assertThatThrownBy(() -> alone.factorize(rows(random(9, 3, 1), 9)))
        .isInstanceOf(BackendUnavailableException.class)
        .hasMessageContaining("CUDA is required");
  }
}
