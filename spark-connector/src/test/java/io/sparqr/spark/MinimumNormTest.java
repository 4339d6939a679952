/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.Sampled;
import io.sparqr.numeric.Tolerances;
import io.sparqr.spark.model.RankPolicy;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.report.LeastSquaresSolution;
import io.sparqr.sparse.CsrMatrix;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The minimum-norm solution of wide and of rank-deficient problems. */
@Tag("numbers")
class MinimumNormTest {

  private static final long SEED = 20260105L;

  @Test
  void isInTheRangeOfTheTranspose() {
    CsrMatrix wide = Problems.random(12, 40, 6, SEED);
    double[] b = Problems.rhs(12, SEED);
    double[] c = Problems.rhs(12, SEED + 1);
    var qr = GpuSparseQR.builder().minimumNorm(true).columns(41).build();
    var rows = Problems.rows(wide, b, c).stream().map(MinimumNormTest::withoutSize).toList();
    LeastSquaresSolution s = qr.solve(LocalSpark.context().parallelize(rows, 3));
    assertThat(LocalSpark.context().getPersistentRDDs()).isEmpty();
    assertThat(s.rank()).isEqualTo(12);
    assertThat(s.report().matrix().columns()).isEqualTo(41);
    double[] x = Arrays.copyOf(s.x(1), 40);
    assertThat(s.x(1)[40]).isZero();
    assertThat(Problems.norm(Problems.residual(wide, x, c))).isLessThan(Tolerances.REORDERED);
    assertThat(s.residualNorms()[1]).isLessThan(Tolerances.REORDERED);
    // x = A'z for some z: nothing is left of x after projection on the columns of A'
    CsrMatrix tall = wide.transpose();
    double[] z = Problems.solveDense(Problems.dense(tall), x);
    assertThat(Problems.norm(Problems.residual(tall, z, x))).isLessThan(Tolerances.REORDERED);
    assertThat(Problems.norm(x))
        .isLessThan(Problems.norm(GpuSparseQR.solve(Problems.rdd(wide, 2, c)).x()));

    // of full column rank there is one solution only
    CsrMatrix full = Problems.random(50, 12, 3, SEED);
    double[] one = Problems.solveDense(Problems.dense(full), Problems.rhs(50, SEED + 1));
    var rdd = Problems.rdd(full, 2, Problems.rhs(50, SEED + 1));
    assertThat(GpuSparseQR.builder().minimumNorm(true).solve(rdd).x())
        .containsExactly(one, within(Tolerances.SOLUTION));
  }

  @Test
  void hasNothingOfTheNullSpaceOfDependentRowsAndColumns() {
    // wide with a duplicate row; tall with columns that are sums of others, after singletons
    CsrMatrix wide = withRowTwice(Problems.random(6, 20, 5, SEED));
    CsrMatrix tall = withSums(Problems.withSingletons(Problems.random(60, 14, 3, SEED), 3, SEED));
    for (CsrMatrix a : List.of(wide, tall)) {
      int rank = a == wide ? 6 : a.columns() - 2;
      double[] b = Problems.rhs(a.rows(), SEED);
      double[] c = Problems.rhs(a.rows(), SEED + 1);
      var rdd = Problems.rdd(a, 2, b, c);
      LeastSquaresSolution basic = GpuSparseQR.solve(rdd);
      LeastSquaresSolution least = GpuSparseQR.builder().minimumNorm(true).solve(rdd);
      assertThat(LocalSpark.context().getPersistentRDDs()).isEmpty();
      assertThat(least.rank()).isEqualTo(rank);
      assertThat(least.deadColumns()).isEqualTo(basic.deadColumns());
      assertThat(least.report().notes()).anyMatch(w -> w.startsWith("minimum-norm solution"));
      for (int k = 0; k < 2; k++) {
        double[] x = least.x(k);
        double[] r = Problems.residual(a, x, k == 0 ? b : c);
        assertThat(Problems.norm(r))
            .isCloseTo(basic.residualNorms()[k], within(Tolerances.REORDERED));
        assertThat(least.residualNorms()[k])
            .isCloseTo(basic.residualNorms()[k], within(Tolerances.roundings(8, 1)));
        assertThat(Problems.norm(x)).isLessThan(Problems.norm(basic.x(k)));
        // x = A'z for some z, by the basic solution of A'z = x
        CsrMatrix transposed = a.transpose();
        double[] z = GpuSparseQR.solve(Problems.rdd(transposed, 2, x)).x();
        assertThat(Problems.norm(Problems.residual(transposed, z, x)))
            .isLessThan(Tolerances.REORDERED * Problems.norm(x));
      }
    }
  }

  @Test
  void sharesBetweenEqualColumns() {
    List<SparseRow> rows = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      rows.add(new SparseRow(new int[] {0, 1, 2}, new double[] {1, i, i}, 3 + 4 * i));
    }
    var rdd = LocalSpark.context().parallelize(rows, 2);
    assertThat(GpuSparseQR.builder().minimumNorm(true).solve(rdd).x())
        .containsExactly(new double[] {3, 2, 2}, within(Tolerances.roundings(32, 3)));
    assertThatThrownBy(
            () -> GpuSparseQR.builder().minimumNorm(true).rankPolicy(RankPolicy.FAIL).solve(rdd))
        .isInstanceOf(io.sparqr.error.RankDeficientException.class)
        .hasMessageContaining("rank 2 of 3 columns");
    assertThat(LocalSpark.context().getPersistentRDDs()).isEmpty();
  }

  @Sampled(oneIn = 3)
  @Test
  void solvesTheProblemWhateverTheColumnsUnits() {
    // columns in units from 1e-6 to 1e6: R'R loses all digits, R does not
    var random = new Random(SEED);
    for (int round = 0; round < 5; round++) {
      CsrMatrix tall = withSums(Problems.random(40, 8, 3, random.nextLong()));
      for (CsrMatrix a : List.of(tall, Problems.random(7, 15, 4, random.nextLong()))) {
        double[] unit = random.ints(a.columns(), -6, 7).mapToDouble(e -> Math.pow(10, e)).toArray();
        for (int e = 0; e < a.nonzeros(); e++) {
          a.values()[e] *= unit[a.columnIndex()[e]];
        }
        double[] b = Problems.rhs(a.rows(), random.nextLong());
        var rdd = Problems.rdd(a, 2, b);
        LeastSquaresSolution basic = GpuSparseQR.solve(rdd);
        LeastSquaresSolution least = GpuSparseQR.builder().minimumNorm(true).check(true).solve(rdd);
        double[] x = least.x();
        double residual = Problems.norm(Problems.residual(a, x, b));
        // the error of a backward stable method
        double rounding = 100 * Math.ulp(1.0) * Problems.norm(a.values()) * Problems.norm(x);
        String what = "round %d, seed %d".formatted(round, SEED);
        assertThat(least.rank()).as(what).isEqualTo(basic.rank());
        assertThat(least.residualNorm()).as(what).isCloseTo(residual, within(rounding));
        assertThat(residual)
            .as(what)
            .isCloseTo(basic.residualNorm(), within(Tolerances.SOLUTION + rounding));
        assertThat(Problems.norm(x)).as(what).isLessThanOrEqualTo(Problems.norm(basic.x()));
      }
    }
  }

  @Test
  void isABasicOneAndSaysSoWhereItsEquationsCannotBeMet() {
    var random = new Random(SEED);
    int said = 0;
    for (int round = 0; round < 8; round++) {
      CsrMatrix a = withSums(Problems.random(40, 8, 3, random.nextLong()));
      int[] power = random.ints(a.columns(), -12, 13).toArray();
      for (int e = 0; e < a.nonzeros(); e++) {
        a.values()[e] *= Math.pow(10, power[a.columnIndex()[e]]);
      }
      double[] b = Problems.rhs(a.rows(), random.nextLong());
      var rdd = Problems.rdd(a, 2, b);
      LeastSquaresSolution basic = GpuSparseQR.solve(rdd);
      LeastSquaresSolution least = GpuSparseQR.builder().minimumNorm(true).solve(rdd);
      double residual = Problems.norm(Problems.residual(a, least.x(), b));
      String what = "round %d, seed %d".formatted(round, SEED);
      assertThat(least.residualNorm())
          .as(what)
          .isCloseTo(residual, within(Tolerances.ILL_CONDITIONED * residual));
      assertThat(residual)
          .as(what)
          .isCloseTo(basic.residualNorm(), within(Tolerances.ILL_CONDITIONED * residual));
      if (least.report().warnings().stream().anyMatch(w -> w.startsWith("a basic solution"))) {
        assertThat(least.x()).as(what).isEqualTo(basic.x());
        said++;
      } else {
        assertThat(Problems.norm(least.x())).as(what).isLessThan(Problems.norm(basic.x()));
      }
    }
    assertThat(said).as("seed %d", SEED).isPositive();
  }

  @Test
  void scalesWithTheUnits() {
    CsrMatrix wide = Problems.random(7, 15, 4, SEED);
    CsrMatrix tall = withSums(Problems.random(40, 8, 3, SEED));
    for (CsrMatrix a : List.of(wide, tall)) {
      double[] b = Problems.rhs(a.rows(), SEED);
      var qr = GpuSparseQR.builder().minimumNorm(true);
      double[] x = qr.solve(Problems.rdd(a, 2, b)).x();
      for (int[] power : new int[][] {{480, -480}, {480, 240}, {-480, 480}, {-480, -240}}) {
        CsrMatrix scaled =
            new CsrMatrix(
                a.rows(), a.columns(), a.rowStart(), a.columnIndex(), times(a.values(), power[0]));
        double[] y = qr.solve(Problems.rdd(scaled, 2, times(b, power[1]))).x();
        assertThat(times(y, power[0] - power[1]))
            .as("2^%d A, 2^%d b", power[0], power[1])
            .containsExactly(x, within(Tolerances.REORDERED * Problems.norm(x)));
      }
    }
  }

  private static double[] times(double[] v, int exponent) {
    return Arrays.stream(v).map(e -> Math.scalb(e, exponent)).toArray();
  }

  @Test
  void itsResidualIsThatOfItsEquations() {
    CsrMatrix wide = Problems.random(7, 15, 4, SEED);
    CsrMatrix tall = withSums(Problems.random(40, 8, 3, SEED));
    var qr = GpuSparseQR.builder().minimumNorm(true);
    for (CsrMatrix a : List.of(wide, tall)) {
      double[] b = Problems.rhs(a.rows(), SEED);
      LeastSquaresSolution s = qr.solve(Problems.rdd(a, 2, b));
      double actual = Problems.norm(Problems.residual(a, s.x(), b));
      if (a == tall) {
        double size = io.sparqr.numeric.Tolerances.size(a, b, s.x());
        assertThat(s.residualNorm())
            .isCloseTo(actual, within(io.sparqr.numeric.Tolerances.ofResidual(actual, size)));
      } else {
        // rounding errors, of the same size
        assertThat(s.residualNorm()).isBetween(actual / 30, 30 * actual);
      }
      LeastSquaresSolution t = qr.solve(Problems.rdd(a, 2, times(b, -400)));
      assertThat(Math.scalb(t.residualNorm(), 400))
          .isCloseTo(s.residualNorm(), within(Tolerances.RESIDUAL * s.residualNorm()));
      assertThat(t.report().residual().residualNorm()).isEqualTo(t.residualNorms());
    }
  }

  @Test
  void isABasicOneWhereItsEquationsAreBeyondTheRange() {
    // (R'R)^-1 b overflows for the second row
    double[] b = {2e160, 1};
    double[][] values = {{1e160, 1e160}, {1e-160, 1e-170}};
    var rows =
        List.of(
            new SparseRow(new int[] {0, 1}, values[0], new double[] {b[0]}, 1, 3),
            new SparseRow(new int[] {1, 2}, values[1], new double[] {b[1]}, 1, 3));
    LeastSquaresSolution s =
        GpuSparseQR.builder().minimumNorm(true).solve(LocalSpark.context().parallelize(rows, 1));
    assertThat(s.report().warnings()).anyMatch(w -> w.startsWith("a basic solution"));
    double[] x = s.x();
    assertThat(1e160 * x[0] + 1e160 * x[1]).isCloseTo(b[0], within(1e148));
  }

  @Test
  void isZeroForNothing() {
    var rows = List.of(new SparseRow(new int[0], new double[0], new double[] {2}, 1, 5));
    LeastSquaresSolution s =
        GpuSparseQR.builder().minimumNorm(true).solve(LocalSpark.context().parallelize(rows, 1));
    assertThat(s.rank()).isZero();
    assertThat(s.x()).containsOnly(0).hasSize(5);
    assertThat(s.residualNorm()).isEqualTo(2);
  }

  @Test
  void takesRowsForDependentThatOnlyRoundingErrorsTellApart() {
    // The fourth row is a combination of the others, except for 7e-14 in R after a pivot of 2e-3.
    List<SparseRow> rows =
        List.of(
            row(0.18877085023037649, new int[] {1, 5}, 0.3809987293354073, -1.0666602115882056),
            row(-0.4957703541452488, new int[] {5}, -1.8307266799616382),
            row(
                0.19182789803462894,
                new int[] {3, 5, 6},
                -193.39882919425662,
                -0.06870002323080504,
                -0.19339882919425663),
            row(
                2.202100254820784,
                new int[] {1, 3, 6},
                -0.5672598475895767,
                -306.1913008467979,
                -0.3061913008467979));
    for (boolean singletons : new boolean[] {true, false}) {
      LeastSquaresSolution s =
          GpuSparseQR.builder()
              .minimumNorm(true)
              .singletons(singletons)
              .solve(LocalSpark.context().parallelize(rows, 2));
      assertThat(s.rank()).isEqualTo(3);
      assertThat(Problems.norm(s.x())).isLessThan(1);
    }
  }

  private static SparseRow row(double label, int[] columns, double... values) {
    return new SparseRow(columns, values, new double[] {label}, 1, 8);
  }

  private static CsrMatrix withRowTwice(CsrMatrix a) {
    int m = a.rows();
    int[] start = Arrays.copyOf(a.rowStart(), m + 2);
    int from = start[2];
    int count = start[3] - from;
    start[m + 1] = start[m] + count;
    int[] column = Arrays.copyOf(a.columnIndex(), start[m + 1]);
    double[] value = Arrays.copyOf(a.values(), start[m + 1]);
    System.arraycopy(column, from, column, start[m], count);
    System.arraycopy(value, from, value, start[m], count);
    return new CsrMatrix(m + 1, a.columns(), start, column, value);
  }

  /** Two further columns: the sum of the first two, the difference of the last two. */
  private static CsrMatrix withSums(CsrMatrix a) {
    double[][] d = Problems.dense(a);
    int n = a.columns();
    int[] start = new int[a.rows() + 1];
    var column = new ArrayList<Integer>();
    var value = new ArrayList<Double>();
    for (int i = 0; i < a.rows(); i++) {
      double[] row = Arrays.copyOf(d[i], n + 2);
      row[n] = row[0] + row[1];
      row[n + 1] = row[n - 2] - row[n - 1];
      for (int j = 0; j < row.length; j++) {
        if (row[j] != 0) {
          column.add(j);
          value.add(row[j]);
        }
      }
      start[i + 1] = column.size();
    }
    return new CsrMatrix(
        a.rows(),
        n + 2,
        start,
        column.stream().mapToInt(j -> j).toArray(),
        value.stream().mapToDouble(v -> v).toArray());
  }

  private static SparseRow withoutSize(SparseRow r) {
    return new SparseRow(r.indices(), r.values(), r.labels(), 1, -1);
  }
}
