/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.error.DimensionMismatchException;
import io.sparqr.numeric.Tolerances;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.spark.model.LinearConstraints;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.report.LeastSquaresSolution;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaRDD;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Equality constraints against the null-space method, dense; and against the Lagrange conditions.
 */
@Tag("numbers")
class ConstraintsTest {

  private static final long SEED = Long.getLong("test.seed", 20261125L);

  private static GpuSparseQR.Builder cut(int levels) {
    return GpuSparseQR.builder()
        .executors(2)
        .partitionOptions(new PartitionOptions(2, 4, levels, 0));
  }

  /** Dense [A], C, b, d. */
  private record Problem(double[][] a, double[][] c, double[][] b, double[][] d) {

    JavaRDD<SparseRow> rows() {
      return LocalSpark.context().parallelize(sparse(a, b), 3);
    }

    LinearConstraints constraints() {
      return LinearConstraints.of(sparse(c, d));
    }

    private static List<SparseRow> sparse(double[][] a, double[][] b) {
      var rows = new ArrayList<SparseRow>();
      for (int i = 0; i < a.length; i++) {
        double[] row = a[i];
        int[] index = IntStream.range(0, row.length).filter(j -> row[j] != 0).toArray();
        double[] value = Arrays.stream(index).mapToDouble(j -> row[j]).toArray();
        rows.add(new SparseRow(index, value, b[i].clone(), 1, -1));
      }
      return rows;
    }
  }

  /** Columns of very different sizes, and constraints as well. */
  private static Problem random(int m, int n, int p, int labels, Random random) {
    double[][] a = new double[m][n];
    double[] size = new double[n];
    for (int j = 0; j < n; j++) {
      size[j] = Math.scalb(1.0, random.nextInt(9) - 4);
    }
    for (int i = 0; i < m; i++) {
      for (int t = 0; t < 4; t++) {
        int j = t == 0 ? i % n : random.nextInt(n);
        a[i][j] = size[j] * (2 * random.nextDouble() - 1);
      }
    }
    double[][] c = new double[p][n];
    for (int i = 0; i < p; i++) {
      double row = Math.scalb(1.0, random.nextInt(21) - 10);
      for (int t = 0; t < 5; t++) {
        c[i][random.nextInt(n)] = row * (2 * random.nextDouble() - 1);
      }
    }
    return new Problem(a, c, rhs(m, labels, random), rhs(p, labels, random));
  }

  private static double[][] rhs(int m, int labels, Random random) {
    double[][] b = new double[m][];
    Arrays.setAll(b, i -> random.doubles(labels, -2, 2).toArray());
    return b;
  }

  /**
   * The null-space method: C = L Q1', x = Q1 L^-1 d + Q2 z, z the least-squares solution of A Q2 z
   * = b - A Q1 L^-1 d; and the errors diag(Q2 (Q2'A'A Q2)^-1 Q2').
   */
  private static final class NullSpace {
    final double[] x;
    final double[] errors;
    final double residual;

    NullSpace(double[][] a, double[][] c, double[] b, double[] d) {
      int n = c[0].length;
      int p = c.length;
      var basis = new ArrayList<double[]>();
      double[][] l = new double[p][p];
      for (int i = 0; i < p; i++) {
        double[] v = c[i].clone();
        l[i] = Arrays.copyOf(orthogonalize(v, basis), p);
        l[i][i] = Problems.norm(v);
        basis.add(scaled(v, 1 / l[i][i]));
      }
      double[] particular = new double[n];
      double[] y = new double[p];
      for (int i = 0; i < p; i++) {
        double sum = d[i];
        for (int k = 0; k < i; k++) {
          sum -= l[i][k] * y[k];
        }
        y[i] = sum / l[i][i];
        Problems.axpy(y[i], basis.get(i), particular);
      }
      for (int k = 0; k < n && basis.size() < n; k++) {
        double[] v = new double[n];
        v[k] = 1;
        orthogonalize(v, basis);
        if (Problems.norm(v) > 0.1 / n) {
          basis.add(scaled(v, 1 / Problems.norm(v)));
        }
      }
      assertThat(basis).hasSize(n);
      List<double[]> q2 = basis.subList(p, n);
      double[][] aq = new double[a.length][q2.size()];
      double[] rest = new double[a.length];
      for (int i = 0; i < a.length; i++) {
        rest[i] = b[i] - Problems.dot(a[i], particular);
        for (int k = 0; k < q2.size(); k++) {
          aq[i][k] = Problems.dot(a[i], q2.get(k));
        }
      }
      x = particular;
      double[] z = Problems.solveDense(aq, rest);
      for (int k = 0; k < z.length; k++) {
        Problems.axpy(z[k], q2.get(k), x);
      }
      double norm = 0;
      for (int i = 0; i < a.length; i++) {
        norm = Math.hypot(norm, b[i] - Problems.dot(a[i], x));
      }
      residual = norm;
      errors = errors(aq, q2, n);
    }

    /** Norms of the rows of Q2 R^-1, by solving (AQ2)'AQ2 w = Q2'e_j through least squares. */
    private static double[] errors(double[][] aq, List<double[]> q2, int n) {
      // rows of pinv(AQ2) by m right-hand sides: X = Q2 pinv(AQ2), errors are its rows' norms
      double[] sum = new double[n];
      for (int i = 0; i < aq.length; i++) {
        double[] e = new double[aq.length];
        e[i] = 1;
        double[] z = Problems.solveDense(aq, e);
        for (int j = 0; j < n; j++) {
          double v = 0;
          for (int k = 0; k < z.length; k++) {
            v += q2.get(k)[j] * z[k];
          }
          sum[j] = Math.hypot(sum[j], v);
        }
      }
      return sum;
    }

    private static double[] orthogonalize(double[] v, List<double[]> basis) {
      double[] dots = new double[basis.size()];
      for (int pass = 0; pass < 2; pass++) {
        for (int k = 0; k < dots.length; k++) {
          double dot = Problems.dot(basis.get(k), v);
          dots[k] += dot;
          Problems.axpy(-dot, basis.get(k), v);
        }
      }
      return dots;
    }

    private static double[] scaled(double[] v, double by) {
      return Arrays.stream(v).map(e -> e * by).toArray();
    }
  }

  private static double[] column(double[][] b, int k) {
    return Arrays.stream(b).mapToDouble(r -> r[k]).toArray();
  }

  private static void check(Problem q, GpuSparseQR.Builder builder, String what) {
    try (ConstrainedFactorization f = builder.build().factorize(q.rows(), q.constraints())) {
      LeastSquaresSolution s = f.solve();
      for (int k = 0; k < q.b[0].length; k++) {
        var oracle = new NullSpace(q.a, q.c, column(q.b, k), column(q.d, k));
        double size = Problems.norm(oracle.x);
        assertThat(s.x(k))
            .as("x %d, %s", k, what)
            .containsExactly(oracle.x, within(Tolerances.SOLUTION * size));
        for (int i = 0; i < q.c.length; i++) {
          double scale = 0;
          for (int j = 0; j < oracle.x.length; j++) {
            scale += Math.abs(q.c[i][j] * s.x(k)[j]);
          }
          assertThat(Problems.dot(q.c[i], s.x(k)))
              .as("constraint %d, %s", i, what)
              .isCloseTo(q.d[i][k], within(8 * Math.ulp(1.0) * scale));
        }
        assertThat(s.residualNorms()[k])
            .as("residual norm, %s", what)
            .isCloseTo(oracle.residual, within(Tolerances.RESIDUAL * oracle.residual));
        checkErrors(f, oracle, k, q, what);
        checkMultipliers(f, q, k, what);
      }
    }
  }

  private static void checkErrors(
      ConstrainedFactorization f, NullSpace oracle, int k, Problem q, String what) {
    double[] errors = f.unscaledErrors();
    double[] scaled = f.standardErrors(k);
    int free = oracle.x.length - q.c.length;
    double sigma = oracle.residual / Math.sqrt(q.a.length - free);
    double largest = Arrays.stream(oracle.errors).max().orElse(0);
    for (int j = 0; j < errors.length; j++) {
      double e = oracle.errors[j];
      // a difference of squares: a result that is small beside its terms has fewer digits
      assertThat(errors[j])
          .as("error of column %d, %s", j, what)
          .isCloseTo(
              e, within(Tolerances.SOLUTION * largest * Math.max(1, Math.min(largest / e, 1e6))));
      assertThat(scaled[j])
          .as("sigma, %s", what)
          .isCloseTo(sigma * errors[j], within(Tolerances.SOLUTION * sigma * largest));
    }
  }

  /** A'(b - Ax) = C'mu. */
  private static void checkMultipliers(ConstrainedFactorization f, Problem q, int k, String what) {
    double[] mu = f.multipliers(k);
    double[] x = f.solve().x(k);
    int n = x.length;
    double[] gradient = new double[n];
    double[] size = new double[n];
    for (int i = 0; i < q.a.length; i++) {
      double r = q.b[i][k] - Problems.dot(q.a[i], x);
      for (int j = 0; j < n; j++) {
        gradient[j] += q.a[i][j] * r;
        size[j] += Math.abs(q.a[i][j]) * (Math.abs(q.b[i][k]) + Math.abs(r));
      }
    }
    for (int i = 0; i < q.c.length; i++) {
      for (int j = 0; j < n; j++) {
        gradient[j] -= q.c[i][j] * mu[i];
        size[j] += Math.abs(q.c[i][j] * mu[i]);
      }
    }
    for (int j = 0; j < n; j++) {
      assertThat(Math.abs(gradient[j]))
          .as("optimality in column %d, %s", j, what)
          .isLessThanOrEqualTo(Tolerances.SOLUTION * size[j]);
    }
  }

  @ParameterizedTest
  @CsvSource({"40,12,1,1,1", "60,25,4,2,2", "90,40,35,1,2", "25,30,12,1,1"})
  void isTheNullSpaceMethod(int m, int n, int p, int labels, int levels) {
    long seed = SEED + n;
    Problem q = random(m, n, p, labels, new Random(seed));
    check(q, cut(levels), "seed " + seed);
  }

  /** Two sets of dummies and an intercept: A has rank 1 + 3 + 2, each set's effects sum to 0. */
  @Test
  void sumsOfEffectsMakeARankDeficientDesignUnique() {
    var random = new Random(SEED);
    double[][] a = new double[40][8];
    for (int i = 0; i < a.length; i++) {
      a[i][0] = 1;
      a[i][1 + i % 4] = 1;
      a[i][5 + random.nextInt(3)] = 1;
    }
    double[][] c = {{0, 1, 1, 1, 1, 0, 0, 0}, {0, 0, 0, 0, 0, 1, 1, 1}};
    var q = new Problem(a, c, rhs(40, 1, random), new double[][] {{0}, {0}});
    check(q, cut(1), "seed " + SEED);
    try (ConstrainedFactorization f = cut(1).build().factorize(q.rows(), q.constraints())) {
      assertThat(f.solve().rank()).isEqualTo(8);
      // the restricted model has 8 - 2 parameters
      double sigma = f.standardErrors()[0] / f.unscaledErrors()[0];
      assertThat(sigma)
          .isCloseTo(f.solve().residualNorm() / Math.sqrt(40 - 6), within(Tolerances.REORDERED));
    }
  }

  /** x_2 = 3: the others fit b - 3 a_2, and x_2 has no error. */
  @Test
  void aFixedCoefficientIsAnOffset() {
    Problem free = random(40, 10, 1, 1, new Random(SEED + 1));
    double[][] c = new double[1][10];
    c[0][2] = 5;
    var q = new Problem(free.a, c, free.b, new double[][] {{15}});
    try (ConstrainedFactorization f = cut(1).build().factorize(q.rows(), q.constraints())) {
      assertThat(f.solve().x()[2]).isEqualTo(3);
      assertThat(f.unscaledErrors()[2]).isZero();
      assertThat(f.standardErrors()[2]).isZero();
      assertThat(f.solve().report().notes()).contains("1 linear equality constraint");
      assertThat(f.solve().report().matrix().rows()).isEqualTo(40);
    }
    check(q, cut(2), "seed " + SEED);
  }

  /** The oracle treats rows of a ridge as rows of A. */
  @Test
  void aRidgeAndWeightsAreThereToo() {
    Problem q = random(30, 12, 3, 1, new Random(SEED + 2));
    double lambda = 0.7;
    double[] w = new Random(SEED).doubles(30, 0.1, 3).toArray();
    var rows = new ArrayList<SparseRow>();
    double[][] a = new double[42][12];
    double[][] b = new double[42][1];
    for (int i = 0; i < 30; i++) {
      SparseRow r = Problem.sparse(new double[][] {q.a[i]}, new double[][] {q.b[i]}).get(0);
      rows.add(new SparseRow(r.indices(), r.values(), r.labels(), w[i], 12));
      double root = Math.sqrt(w[i]);
      a[i] = Arrays.stream(q.a[i]).map(v -> v * root).toArray();
      b[i][0] = root * q.b[i][0];
    }
    for (int j = 0; j < 12; j++) {
      a[30 + j][j] = Math.sqrt(lambda);
    }
    var oracle = new NullSpace(a, q.c, column(b, 0), column(q.d, 0));
    try (ConstrainedFactorization f =
        cut(1)
            .ridge(lambda)
            .build()
            .factorize(LocalSpark.context().parallelize(rows, 2), q.constraints())) {
      double size = Problems.norm(oracle.x);
      assertThat(f.solve().x()).containsExactly(oracle.x, within(Tolerances.SOLUTION * size));
      double ofRows = Math.sqrt(oracle.residual * oracle.residual - lambda * size * size);
      assertThat(f.solve().residualNorm())
          .isCloseTo(ofRows, within(Tolerances.RESIDUAL * oracle.residual));
      assertThat(f.unscaledErrors())
          .containsExactly(
              oracle.errors, within(Tolerances.SOLUTION * Problems.norm(oracle.errors)));
    }
  }

  @Test
  void dependentConstraintsAreNamed() {
    Problem q = random(30, 10, 3, 1, new Random(SEED + 3));
    double[][] c = {q.c[0], q.c[1], new double[10], q.c[2]};
    for (int j = 0; j < 10; j++) {
      c[2][j] = 2 * q.c[0][j] - 1e3 * q.c[1][j];
    }
    double follows = 2 * q.d[0][0] - 1e3 * q.d[1][0];
    double[][] d = {q.d[0], q.d[1], {follows}, q.d[2]};
    assertThatThrownBy(
            () -> cut(1).build().solve(q.rows(), new Problem(null, c, null, d).constraints()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("constraint 2 depends on those before it, and follows from them: leave it out");
    d[2] = new double[] {follows + 1};
    assertThatThrownBy(
            () -> cut(1).build().solve(q.rows(), new Problem(null, c, null, d).constraints()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("constraint 2 contradicts those before it");
  }

  @Test
  void wrongConstraintsAreRefused() {
    Problem q = random(30, 10, 3, 1, new Random(SEED + 4));
    SparseQRSolver solver = cut(1).build();
    var two = new SparseRow(new int[] {0}, new double[] {1}, new double[] {1, 2});
    assertThatThrownBy(() -> solver.solve(q.rows(), LinearConstraints.of(two)))
        .isInstanceOf(DimensionMismatchException.class)
        .hasMessage("constraints have 2 right-hand sides, the rows 1");
    var empty = new SparseRow(new int[] {3}, new double[] {0}, 1);
    assertThatThrownBy(() -> LinearConstraints.of(empty)).hasMessage("constraint 0 has no entries");
    var nan = new SparseRow(new int[] {3}, new double[] {Double.NaN}, 1);
    assertThatThrownBy(() -> LinearConstraints.of(nan)).hasMessageContaining("not finite");
    var twice = new SparseRow(new int[] {3, 3}, new double[] {1, 2}, 1);
    assertThatThrownBy(() -> LinearConstraints.of(twice)).hasMessageContaining("one twice");
    assertThatThrownBy(() -> LinearConstraints.of(List.of())).hasMessage("no constraints");
    var good = new SparseRow(new int[] {3}, new double[] {1}, 1);
    assertThatThrownBy(
            () -> cut(1).minimumNorm(true).build().solve(q.rows(), LinearConstraints.of(good)))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(LocalSpark.context().getPersistentRDDs()).isEmpty();
  }
}
