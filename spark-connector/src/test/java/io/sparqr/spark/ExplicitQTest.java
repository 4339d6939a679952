/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.Sampled;
import io.sparqr.backend.BackendChoice;
import io.sparqr.error.DimensionMismatchException;
import io.sparqr.error.NonFiniteValueException;
import io.sparqr.numeric.Tolerances;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.spark.model.QTransposed;
import io.sparqr.spark.model.RFactor;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.report.QrCriteria;
import io.sparqr.sparse.CsrMatrix;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaRDD;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Q as a matrix: against A = QR column by column, Q'Q = I, and dense Householder reflections. */
@Tag("once")
class ExplicitQTest {

  private static final long SEED = Long.getLong("test.seed", 20261128L);

  private static GpuSparseQR.Builder cut(int levels) {
    return GpuSparseQR.builder()
        .backend(BackendChoice.CPU)
        .keepQ(true)
        .ordering(OrderingMethod.NESTED_DISSECTION)
        .executors(2)
        .partitionOptions(new PartitionOptions(2, 4, levels, 0));
  }

  private static JavaRDD<SparseRow> rdd(List<SparseRow> rows, int partitions) {
    return LocalSpark.context().parallelize(rows, partitions);
  }

  private static JavaRDD<double[]> aligned(int partitions, double[]... b) {
    List<double[]> list =
        IntStream.range(0, b[0].length)
            .mapToObj(i -> Arrays.stream(b).mapToDouble(c -> c[i]).toArray())
            .toList();
    return LocalSpark.context().parallelize(list, partitions);
  }

  /** All columns of Q, by row. */
  private static double[][] q(QRFactorization f) {
    int[] all = IntStream.range(0, f.rank()).toArray();
    return f.q(all).collect().toArray(new double[0][]);
  }

  /** The rows of A that were factorized, weighted, equilibrated and in R's order. */
  private static double[][] factorized(List<SparseRow> rows, RFactor r) {
    double[][] a = new double[rows.size()][r.matrix().columns()];
    for (int i = 0; i < a.length; i++) {
      SparseRow row = rows.get(i);
      for (int k = 0; k < row.indices().length; k++) {
        int j = row.indices()[k];
        a[i][r.permutation().position(j)] +=
            Math.sqrt(row.weight()) * row.values()[k] * r.scale()[j];
      }
    }
    return a;
  }

  private static double norm(double[][] a, int column) {
    return Tolerances.norm(Arrays.stream(a).mapToDouble(row -> row[column]).toArray());
  }

  /** A P = QR, column by column; dependent columns to the tolerance of the rank. */
  private static void assertProduct(double[][] a, double[][] q, RFactor factor, double dropped) {
    double[][] r = Problems.dense(factor.matrix());
    int m = a.length;
    int n = a[0].length;
    for (int j = 0; j < n; j++) {
      double[] error = new double[m];
      for (int i = 0; i < m; i++) {
        error[i] = a[i][j];
        for (int k = 0; k < r.length; k++) {
          error[i] -= q[i][k] * r[k][j];
        }
      }
      Tolerances.require(
          Tolerances.norm(error),
          Tolerances.of(m, n, Math.max(norm(a, j), norm(r, j))) + dropped,
          "column %d of AP - QR, seed %d",
          j,
          SEED);
    }
  }

  private static void assertOrthonormal(double[][] q, int rank) {
    for (int k = 0; k < rank; k++) {
      for (int l = 0; l <= k; l++) {
        double dot = k == l ? -1 : 0;
        for (double[] row : q) {
          dot += row[k] * row[l];
        }
        Tolerances.require(
            Math.abs(dot), Tolerances.of(q.length, rank, 1), "q%d'q%d, seed %d", k, l, SEED);
      }
    }
  }

  private static void assertFactors(
      SparseQRSolver qr, List<SparseRow> rows, int partitions, double dropped, boolean ridge) {
    try (QRFactorization f = qr.factorize(rdd(rows, partitions))) {
      double[][] q = q(f);
      RFactor r = f.collectR();
      assertThat(q.length).isEqualTo(rows.size());
      assertProduct(factorized(rows, r), q, r, dropped);
      if (!ridge) {
        assertOrthonormal(q, f.rank());
      }
      for (int probes : new int[] {5, 1000}) {
        QrCriteria c = f.criteria(probes);
        assertThat(c.met()).as("%s, seed %d", c, SEED).isTrue();
        assertThat(c.exact()).isEqualTo(probes == 1000);
        assertThat(c.rank()).isEqualTo(f.rank());
        assertThat(f.criteria(probes)).as("the same bits").isEqualTo(c);
      }
    }
    assertThat(LocalSpark.context().getPersistentRDDs()).isEmpty();
  }

  @Sampled(oneIn = 3)
  @Test
  void overLevelsOfTheTree() {
    CsrMatrix grid = Problems.grid(11, SEED);
    List<SparseRow> rows = Problems.rows(grid, Problems.rhs(grid.rows(), SEED));
    for (int levels = 1; levels <= 3; levels++) {
      assertFactors(cut(levels).build(), rows, 3, 0, false);
    }
  }

  @Test
  void singletonsRankDeficiencyWideAndTall() {
    CsrMatrix singletons = Problems.withSingletons(Problems.random(60, 20, 4, SEED), 5, SEED);
    assertFactors(cut(2).build(), Problems.rows(singletons, Problems.rhs(65, SEED)), 2, 0, false);
    CsrMatrix random = Problems.random(90, 40, 4, SEED);
    double[] twice = random.values().clone();
    for (int k = 0; k < twice.length; k++) {
      // column 7 vanishes
      twice[k] = random.columnIndex()[k] == 7 ? 0 : twice[k];
    }
    CsrMatrix deficient = new CsrMatrix(90, 40, random.rowStart(), random.columnIndex(), twice);
    assertFactors(
        cut(2).columns(40).build(), Problems.rows(deficient, Problems.rhs(90, SEED)), 3, 0, false);
    CsrMatrix wide = Problems.random(30, 70, 5, SEED);
    assertFactors(
        cut(2).build(), Problems.rows(wide, Problems.rhs(30, SEED)), 2, Tolerances.RANDOM, false);
    CsrMatrix tall = Problems.random(3000, 20, 3, SEED);
    assertFactors(cut(1).build(), Problems.rows(tall, Problems.rhs(3000, SEED)), 4, 0, false);
  }

  @Sampled(oneIn = 3)
  @Test
  void ridgeWeightsEmptyRowsAndScales() {
    CsrMatrix a = Problems.random(80, 30, 4, SEED);
    var random = new Random(SEED);
    var rows = new ArrayList<SparseRow>();
    for (SparseRow r : Problems.rows(a, Problems.rhs(80, SEED))) {
      double weight = random.nextInt(6) == 0 ? 0 : 0.5 + random.nextDouble();
      double[] v = r.values().clone();
      for (int k = 0; k < v.length; k++) {
        // columns of very different sizes
        v[k] *= Math.scalb(1.0, 20 * (r.indices()[k] % 7));
      }
      rows.add(new SparseRow(r.indices(), v, r.labels(), weight, r.columns()));
      if (random.nextInt(9) == 0) {
        rows.add(new SparseRow(new int[0], new double[0], new double[] {0.5}, 2, r.columns()));
      }
    }
    assertFactors(cut(2).build(), rows, 3, 0, false);
    List<SparseRow> plain = Problems.rows(a, Problems.rhs(80, SEED));
    assertFactors(cut(2).equilibrate(false).build(), plain, 2, 0, false);
    assertFactors(cut(1).ridge(0.3).build(), rows, 2, 0, true);
    assertFactors(cut(3).ridge(1e-3).singletons(false).build(), rows, 3, 0, true);
    // with a ridge, columns without entries are singletons
    CsrMatrix few = Problems.random(20, 30, 2, SEED);
    assertFactors(
        cut(2).columns(30).ridge(2).build(),
        Problems.rows(few, Problems.rhs(20, SEED)),
        2,
        0,
        true);
  }

  /** Thin Q of a dense matrix by Householder reflections, R's diagonal made positive. */
  private static double[][] householder(double[][] given) {
    int m = given.length;
    int n = given[0].length;
    double[][] a = Arrays.stream(given).map(double[]::clone).toArray(double[][]::new);
    double[][] v = new double[n][m];
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int i = j; i < m; i++) {
        sum += a[i][j] * a[i][j];
        v[j][i] = a[i][j];
      }
      v[j][j] += Math.copySign(Math.sqrt(sum), a[j][j]);
      double size = Problems.norm(v[j]);
      for (int i = j; i < m; i++) {
        v[j][i] /= size;
      }
      for (int k = j; k < n; k++) {
        reflect(v[j], a, k);
      }
    }
    double[][] q = new double[m][n];
    for (int k = 0; k < n; k++) {
      q[k][k] = a[k][k] < 0 ? -1 : 1;
      for (int j = n - 1; j >= 0; j--) {
        reflect(v[j], q, k);
      }
    }
    return q;
  }

  private static void reflect(double[] v, double[][] a, int column) {
    double dot = 0;
    for (int i = 0; i < v.length; i++) {
      dot += v[i] * a[i][column];
    }
    for (int i = 0; i < v.length; i++) {
      a[i][column] -= 2 * dot * v[i];
    }
  }

  @Test
  void columnsAreThoseOfDenseHouseholderReflections() {
    // well conditioned: a multiple of the identity on top of random rows
    CsrMatrix random = Problems.random(60, 12, 5, SEED);
    var rows = new ArrayList<SparseRow>(Problems.rows(random, Problems.rhs(60, SEED)));
    for (int j = 0; j < 12; j++) {
      for (int twice = 0; twice < 2; twice++) {
        rows.add(new SparseRow(new int[] {j}, new double[] {3}, new double[] {1}, 1, 12));
      }
    }
    for (int levels = 1; levels <= 2; levels++) {
      try (QRFactorization f = cut(levels).factorize(rdd(rows, 3))) {
        double[][] expected = householder(factorized(rows, f.collectR()));
        double[][] q = q(f);
        for (int i = 0; i < q.length; i++) {
          // R's diagonal is positive, which makes Q unique
          Tolerances.requireClose(
              q[i], expected[i], Tolerances.of(q.length, 12, 10), "row " + i + " of Q");
        }
        List<double[]> some = f.q(7, 2, 7).collect();
        for (int i = 0; i < q.length; i++) {
          assertThat(some.get(i)).hasSize(3);
          assertThat(some.get(i)[0]).isEqualTo(some.get(i)[2]);
          double[] both = {q[i][7], q[i][2], q[i][7]};
          Tolerances.requireClose(some.get(i), both, Tolerances.of(60, 12, 1), "two columns");
        }
      }
    }
  }

  @Test
  void thereAndBackForManyVectors() {
    CsrMatrix a = Problems.withSingletons(Problems.random(300, 60, 4, SEED), 5, SEED);
    double[] b = Problems.rhs(a.rows(), SEED + 1);
    try (QRFactorization f = cut(2).factorize(Problems.rdd(a, 3, b))) {
      int rank = f.rank();
      // more than a chunk; from 16 on by matrix products
      for (int k : new int[] {1, 15, 16, 70}) {
        double[][] c = new double[k][];
        for (int j = 0; j < k; j++) {
          c[j] = Problems.rhs(rank, SEED + 10 + j);
        }
        JavaRDD<double[]> y = f.applyQ(c);
        QTransposed back = f.applyQTransposed(y);
        for (int j = 0; j < k; j++) {
          double limit = Tolerances.of(a.rows(), rank, Problems.norm(c[j]));
          Tolerances.requireClose(back.values()[j], c[j], limit, "vector " + j + " of " + k);
          assertThat(back.rest()[j]).isLessThan(limit);
        }
        List<double[]> again = f.applyQ(c).collect();
        List<double[]> first = y.collect();
        List<double[]> alone = f.applyQ(new double[][] {c[k - 1]}).collect();
        for (int i = 0; i < again.size(); i++) {
          assertThat(again.get(i)).as("the same bits").isEqualTo(first.get(i));
          Tolerances.require(
              Math.abs(alone.get(i)[0] - first.get(i)[k - 1]),
              Tolerances.of(a.rows(), rank, Problems.norm(c[k - 1])),
              "row %d of vector %d",
              i,
              k - 1);
        }
      }
    }
    assertThat(LocalSpark.context().getPersistentRDDs()).isEmpty();
  }

  @Test
  void transposedIsWhatWasCarriedAlong() {
    CsrMatrix grid = Problems.grid(10, SEED);
    double[] b = Problems.rhs(grid.rows(), SEED + 1);
    try (QRFactorization f = cut(2).factorize(Problems.rdd(grid, 2, b))) {
      QTransposed q = f.applyQTransposed(aligned(2, b));
      RFactor r = f.collectR();
      Tolerances.requireClose(
          q.values()[0], r.rhs(), Tolerances.of(grid.rows(), 1, Problems.norm(b)), "Q'b");
      double residual = f.solve(aligned(2, b)).residualNorm();
      assertThat(q.rest()[0]).as("bits of the solve by Q").isEqualTo(residual);
      assertThat(f.applyQTransposed(aligned(2, b)).values()[0]).isEqualTo(q.values()[0]);
      // fitted values: Q Q'b = A x
      double[] x = f.solve().x();
      double[] fitted = grid.multiply(x);
      List<double[]> projected = f.applyQ(q.values()).collect();
      double limit = Tolerances.SOLUTION * Problems.norm(b);
      for (int i = 0; i < fitted.length; i++) {
        Tolerances.require(Math.abs(projected.get(i)[0] - fitted[i]), limit, "fitted value %d", i);
      }
    }
  }

  @Test
  void weightsAreNotAppliedToVectors() {
    CsrMatrix a = Problems.random(50, 12, 4, SEED);
    var rows = new ArrayList<SparseRow>();
    double[] scaled = new double[50];
    for (SparseRow r : Problems.rows(a, Problems.rhs(50, SEED))) {
      double weight = rows.size() % 5 == 0 ? 0 : 4.0 * (1 + rows.size() % 3 * 3);
      scaled[rows.size()] = Math.sqrt(weight) * r.labels()[0];
      rows.add(new SparseRow(r.indices(), r.values(), r.labels(), weight, r.columns()));
    }
    try (QRFactorization f = cut(1).factorize(rdd(rows, 2))) {
      double[] q = f.applyQTransposed(aligned(2, scaled)).values()[0];
      Tolerances.requireClose(
          q, f.collectR().rhs(), Tolerances.of(50, 1, Problems.norm(scaled)), "Q'b");
      List<double[]> y = f.applyQ(new double[][] {q}).collect();
      assertThat(y.get(0)).as("weight 0").containsExactly(0);
    }
  }

  @Test
  void criteriaAreTextAndJson() {
    CsrMatrix grid = Problems.grid(6, SEED);
    double[] b = Problems.rhs(grid.rows(), SEED + 1);
    try (QRFactorization f = cut(1).factorize(Problems.rdd(grid, 2, b))) {
      QrCriteria c = f.criteria(8);
      assertThat(c.toString())
          .contains("||AP - QR|| / ||A|| = ", "||Q'Q - I|| = ", "lower part", "by 8 random probes");
      assertThat(c.toJson()).contains("\"residual\"", "\"paperBound\"", "\"met\" : true");
      assertThat(c.paperBound()).isEqualTo(grid.rows() * Math.ulp(1.0));
      QrCriteria all = f.criteria(36);
      assertThat(all.exact()).isTrue();
      // an estimate by 8 probes is within a factor of the norm, which is not zero
      assertThat(c.residual()).isBetween(all.residual() / 4, all.residual() * 4);
      assertThat(c.orthogonality()).isBetween(all.orthogonality() / 4, all.orthogonality() * 4);
      assertThat(c.lower()).isBetween(all.lower() / 8, all.lower() * 8);
    }
  }

  @Test
  void refusesWhatDoesNotFit(@TempDir Path folder) throws Exception {
    CsrMatrix grid = Problems.grid(6, SEED);
    double[] b = Problems.rhs(grid.rows(), SEED + 1);
    JavaRDD<SparseRow> rows = Problems.rdd(grid, 2, b);
    QRFactorization f = cut(1).factorize(rows);
    assertThatThrownBy(() -> f.applyQ(new double[][] {new double[36], new double[35]}))
        .isInstanceOf(DimensionMismatchException.class)
        .hasMessageContaining("vector 1 of Q has 35 values");
    double[] bad = new double[36];
    bad[4] = Double.NaN;
    assertThatThrownBy(() -> f.applyQ(new double[][] {bad}))
        .isInstanceOf(NonFiniteValueException.class)
        .hasMessageContaining("row 4 of R");
    assertThatThrownBy(() -> f.applyQ(new double[0][]))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> f.q(3, 36))
        .isInstanceOf(IndexOutOfBoundsException.class)
        .hasMessageContaining("column 36 of Q, which has 36");
    assertThatThrownBy(() -> f.q(-1)).isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> f.criteria(0)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> f.applyQTransposed(aligned(3, b)))
        .isInstanceOf(DimensionMismatchException.class)
        .hasMessageContaining("3 partitions");
    assertThatThrownBy(() -> f.applyQTransposed(aligned(2, new double[] {1, 2})))
        .isInstanceOf(DimensionMismatchException.class)
        .hasMessageContaining("more rows than right-hand sides");
    double[] infinite = b.clone();
    infinite[3] = Double.POSITIVE_INFINITY;
    assertThatThrownBy(() -> f.applyQTransposed(aligned(2, infinite)))
        .isInstanceOf(NonFiniteValueException.class);
    List<double[]> uneven = new ArrayList<>();
    for (int i = 0; i < b.length; i++) {
      uneven.add(new double[i == 9 ? 70 : 80]);
    }
    assertThatThrownBy(() -> f.applyQTransposed(LocalSpark.context().parallelize(uneven, 2)))
        .isInstanceOf(DimensionMismatchException.class)
        .hasMessageContaining("a row has the values of 70 vectors");
    try (QRFactorization appended = f.append(rows)) {
      assertThatThrownBy(() -> appended.q(0))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("rows were appended");
    }
    String saved = folder.resolve("saved").toUri().toString();
    f.save(saved);
    try (QRFactorization loaded = GpuSparseQR.load(LocalSpark.context(), saved)) {
      assertThatThrownBy(() -> loaded.criteria(2))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("was loaded");
    }
    try (QRFactorization none = cut(1).keepQ(false).factorize(rows)) {
      assertThatThrownBy(() -> none.applyQTransposed(aligned(2, b)))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("keepQ(true)");
    }
    f.close();
    assertThatThrownBy(() -> f.q(0))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("closed");
  }
}
