/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.error.DimensionMismatchException;
import io.sparqr.error.NonFiniteValueException;
import io.sparqr.error.RankDeficientException;
import io.sparqr.numeric.Tolerances;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A = QR column by column, Q'Q = I and R's shape, in units of eps; products; bad input. */
abstract class CudaDenseQrContract {

  /** All columns of Q of so many rows. */
  private static final int MOST_COLUMNS = 600;

  /** Of 64 rows, in the sample of a tall matrix. */
  private static final int SAMPLE_TILES = 128;

  abstract DeviceSessions sessions();

  /** Row-major. */
  static double[] random(int m, int n, long seed) {
    var random = new Random(seed);
    double[] a = new double[m * n];
    for (int i = 0; i < a.length; i++) {
      a[i] = random.nextGaussian();
    }
    return a;
  }

  private static double norm(double[] a, int rows, int n, int j) {
    double largest = 0;
    for (int i = 0; i < rows; i++) {
      largest = Math.max(largest, Math.abs(a[i * n + j]));
    }
    double sum = 0;
    for (int i = 0; largest > 0 && i < rows; i++) {
      double x = a[i * n + j] / largest;
      sum += x * x;
    }
    return largest * Math.sqrt(sum);
  }

  /** Q R - A relative to each column's norm, Q'Q - I, and R's lower part and diagonal. */
  private static void check(double[] a, int m, int n, double[] q, int width, double[] r) {
    double limit = Tolerances.of(m, n, 1);
    for (int k = 0; k < n; k++) {
      assertThat(r[k * n + k] >= 0).isTrue();
      double norm = norm(a, m, n, k);
      double off = 0;
      for (int i = 0; i < m; i++) {
        double sum = 0;
        for (int j = 0; j <= k; j++) {
          sum += q[i * width + j] * (norm == 0 ? r[j * n + k] : r[j * n + k] / norm);
        }
        double d = sum - (norm == 0 ? 0 : a[i * n + k] / norm);
        off += d * d;
      }
      assertThat(Math.sqrt(off)).as("column %d", k).isLessThanOrEqualTo(limit);
      for (int j = k + 1; j < n; j++) {
        assertThat(r[j * n + k]).isZero();
      }
    }
    for (int j = 0; j < width; j += 1 + width / 40) {
      for (int k = j; k < width; k += 1 + width / 40) {
        double sum = 0;
        for (int i = 0; i < m; i++) {
          sum += q[i * width + j] * q[i * width + k];
        }
        assertThat(sum).as("Q'Q %d, %d", j, k).isCloseTo(j == k ? 1 : 0, within(limit));
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "1, 1",
    "5, 1",
    "33, 2",
    "64, 32",
    "100, 7",
    "320, 320",
    "513, 130",
    "2000, 96",
    "3000, 33",
    "520, 420"
  })
  void explicitQ(int m, int n) {
    double[] a = random(m, n, 31L * m + n);
    try (var qr = new CudaDenseQr(sessions(), 0, m, n, true, 2)) {
      qr.factor(a);
      double[] r = qr.r();
      double[] thin = qr.thinQ();
      check(a, m, n, thin, n, r);
      if (m > MOST_COLUMNS) {
        return;
      }
      double[] full = qr.fullQ();
      check(a, m, n, full, m, r);
      for (int i = 0; i < m; i += 1 + m / 50) {
        for (int j = 0; j < n; j++) {
          assertThat(full[i * m + j]).isCloseTo(thin[i * n + j], within(Tolerances.of(m, n, 1)));
        }
      }
    }
  }

  /** Several matrices of one object, and the same one again to the same bits. */
  @Test
  void oneObjectManyMatrices() {
    double[] a = random(900, 70, 1);
    double[] b = random(900, 70, 2);
    try (var qr = new CudaDenseQr(sessions(), 0, 900, 70, true, 2)) {
      qr.factor(a);
      double[] q = qr.thinQ();
      double[] r = qr.r();
      qr.factor(b);
      check(b, 900, 70, qr.thinQ(), 70, qr.r());
      qr.factor(a);
      assertThat(qr.r()).isEqualTo(r);
      assertThat(qr.thinQ()).isEqualTo(q);
    }
  }

  /** Norms from 1e-300 to 1e300, columns of zeros, and nearly dependent ones. */
  @ParameterizedTest
  @CsvSource({"graded", "zeros", "dependent", "laeuchli", "denormal"})
  void hardColumns(String kind) {
    int m = 600;
    int n = 50;
    double[] a = random(m, n, 7);
    for (int i = 0; i < m; i++) {
      for (int j = 0; j < n; j++) {
        int at = i * n + j;
        switch (kind) {
          case "graded" -> a[at] *= Math.pow(10, -300 + 600.0 * j / (n - 1));
          case "zeros" -> a[at] = j % 5 == 0 ? 0 : a[at];
          case "dependent" -> a[at] = j == 0 ? a[at] : a[i * n] + 1e-14 * a[at];
          case "laeuchli" -> a[at] = i == 0 ? 1 : i == j + 1 ? 1e-9 : 0;
          default -> a[at] *= j % 2 == 0 ? 1e-310 : 1;
        }
      }
    }
    try (var qr = new CudaDenseQr(sessions(), 0, m, n, true, 2)) {
      qr.factor(a);
      double[] q = qr.thinQ();
      if (kind.equals("denormal")) {
        // rounding is absolute there
        check(random(m, n, 7), m, n, q, n, unscaled(qr.r(), n));
      } else {
        check(a, m, n, q, n, qr.r());
      }
    }
  }

  private static double[] unscaled(double[] r, int n) {
    for (int j = 0; j < n; j += 2) {
      for (int i = 0; i < n; i++) {
        r[i * n + j] *= 1e155;
        r[i * n + j] *= 1e155;
      }
    }
    return r;
  }

  /** R'R = A'A by sums of exact products, relative to the columns' norms. */
  private static void checkR(double[] a, int m, int n, double[] r) {
    double limit = Tolerances.of(m, n, 1);
    double[] norm = new double[n];
    for (int k = 0; k < n; k++) {
      norm[k] = norm(a, m, n, k);
      assertThat(r[k * n + k] >= 0).isTrue();
    }
    for (int i = 0; i < n; i += 1 + n / 60) {
      for (int k = i; k < n; k += 1 + n / 70) {
        double[] sum = new double[2];
        for (int j = 0; j < m; j++) {
          addProduct(sum, a[j * n + i] / norm[i], a[j * n + k] / norm[k]);
        }
        for (int j = 0; j <= i; j++) {
          addProduct(sum, -r[j * n + i] / norm[i], r[j * n + k] / norm[k]);
        }
        assertThat(sum[0] + sum[1]).as("R'R %d, %d", i, k).isCloseTo(0, within(limit));
      }
    }
  }

  private static void addProduct(double[] sum, double x, double y) {
    double product = x * y;
    double s = sum[0] + product;
    double t = s - sum[0];
    sum[1] += sum[0] - (s - t) + (product - t) + Math.fma(x, y, -product);
    sum[0] = s;
  }

  private double[] rOf(double[] a, int m, int n, String refused) {
    try (var qr = new CudaDenseQr(sessions(), 0, m, n, false, 2)) {
      qr.takeSmallToo();
      qr.factor(a);
      assertThat(qr.byGram()).isEqualTo(refused.isEmpty());
      String way = refused.isEmpty() ? ", by its Gram matrix" : "matrix: (" + refused + ")";
      assertThat(qr.description()).matches(".*" + way);
      return qr.r();
    }
  }

  /** R alone of tall matrices, whose sample is all rows or some. */
  @ParameterizedTest
  @CsvSource({"1000, 33", "3072, 192", "8193, 1", "8300, 48", "8300, 97", "9000, 5"})
  void tall(int m, int n) {
    double[] a = random(m, n, 5L * m + n);
    checkR(a, m, n, rOf(a, m, n, ""));
    // columns of any size, and of one sign
    for (int i = 0; i < m; i++) {
      for (int j = 0; j < n; j++) {
        a[i * n + j] = Math.scalb(a[i * n + j] + (j % 3 == 0 ? 4 : 0), 7 * j % 200 - 100);
      }
    }
    checkR(a, m, n, rOf(a, m, n, ""));
  }

  /** The same bits again, also after a matrix that goes by the rounds. */
  @Test
  void sameBitsTall() {
    int m = 9000;
    int n = 9;
    double[] a = random(m, n, 19);
    double[] dependent = a.clone();
    for (int i = 0; i < m; i++) {
      dependent[i * n + 4] = a[i * n];
    }
    try (var qr = new CudaDenseQr(sessions(), 0, m, n, false, 2)) {
      qr.takeSmallToo();
      qr.factor(a);
      double[] r = qr.r();
      qr.factor(dependent);
      assertThat(qr.byGram()).isFalse();
      checkR(dependent, m, n, qr.r());
      qr.factor(a);
      assertThat(qr.byGram()).isTrue();
      assertThat(qr.r()).isEqualTo(r);
    }
  }

  /** Where the rounds are faster they make R. */
  @Test
  void smallTall() {
    double[] a = random(900, 40, 3);
    try (var qr = new CudaDenseQr(sessions(), 0, 900, 40, false, 2)) {
      qr.factor(a);
      assertThat(qr.byGram()).isFalse();
      checkR(a, 900, 40, qr.r());
    }
  }

  /** Constant columns, of which all roundings of a long sum go one way, and ordered groups. */
  @ParameterizedTest
  @CsvSource({"9000, 5", "40000, 33"})
  void constantColumns(int m, int n) {
    double[] a = new double[m * n];
    for (int i = 0; i < m; i++) {
      a[i * n] = 0.7;
      int group = (int) ((long) i * n / m);
      if (group > 0) {
        a[i * n + group] = 1.3;
      }
    }
    checkR(a, m, n, rOf(a, m, n, ""));
  }

  /** What a sample does not know, and what no Gram matrix does. */
  @ParameterizedTest
  @CsvSource({
    "rare, ''",
    "unlike, ''",
    "dependent, columns are nearly dependent",
    "near, rounding errors would grow",
    "nearer, rounding errors would grow|columns are nearly dependent",
    "zeros, 'norms of columns are far apart, or one is zero'",
    "graded, ''",
    "far, 'norms of columns are far apart, or one is zero'"
  })
  void hardTall(String kind, String refused) {
    int m = 12000;
    int n = 50;
    double[] a = random(m, n, 17);
    boolean[] taken = new boolean[(m + 63) / 64];
    for (int k = 0; k < SAMPLE_TILES; k++) {
      taken[k * taken.length / SAMPLE_TILES] = true;
    }
    for (int i = 0; i < m; i++) {
      for (int j = 0; j < n; j++) {
        int at = i * n + j;
        switch (kind) {
          // only where the sample has no tile
          case "rare" -> a[at] = j == n - 1 ? (taken[i / 64] ? 0 : 1) : a[at];
          // much larger in tiles that are left out
          case "unlike" -> a[at] *= j == 4 && taken[i / 64] ? 1e-5 : 1;
          case "dependent" -> a[at] = j == 1 ? a[i * n] : a[at];
          case "near" -> a[at] = j < 9 ? a[i * n] + 5e-4 * a[at] : a[at];
          // the inverse of a pair of pivots loses 1e10: a device may have no digits of the third
          case "nearer" -> a[at] = j < 9 ? a[i * n] + 1e-5 * a[at] : a[at];
          case "zeros" -> a[at] = j == 3 ? 0 : a[at];
          case "graded" -> a[at] *= Math.pow(10, -30 + 60.0 * j / (n - 1));
          default -> a[at] *= j == 7 ? 1e70 : 1;
        }
      }
    }
    double[] r = rOf(a, m, n, refused);
    if (!kind.equals("zeros")) {
      checkR(a, m, n, r);
    }
  }

  /** Q'(Q c) = c, Q'A = R, and the least squares solution's normal equations. */
  @ParameterizedTest
  @CsvSource({"400, 60, 1", "1000, 100, 64", "257, 33, 200"})
  void products(int m, int n, int width) {
    double[] a = random(m, n, 11);
    double limit = Tolerances.of(m, n, 1);
    try (var qr = new CudaDenseQr(sessions(), 0, m, n, true, 2)) {
      qr.factor(a);
      double[] r = qr.r();
      double[] c = random(m, width, 12);
      double[] x = c.clone();
      qr.applyQ(x, width);
      qr.applyQTransposed(x, width);
      for (int i = 0; i < c.length; i++) {
        assertThat(x[i]).isCloseTo(c[i], within(limit * Math.sqrt(m)));
      }
      double[] image = a.clone();
      qr.applyQTransposed(image, n);
      for (int i = 0; i < m; i++) {
        for (int j = 0; j < n; j++) {
          double expected = i < n ? r[i * n + j] : 0;
          assertThat(image[i * n + j]).isCloseTo(expected, within(limit * norm(a, m, n, j)));
        }
      }
      double[] y = qr.solve(c.clone(), width);
      for (int k = 0; k < width; k += 1 + width / 8) {
        normalEquations(a, m, n, c, y, width, k, limit);
      }
    }
  }

  private static void normalEquations(
      double[] a, int m, int n, double[] b, double[] x, int width, int k, double limit) {
    double[] residual = new double[m];
    for (int i = 0; i < m; i++) {
      residual[i] = b[i * width + k];
      for (int j = 0; j < n; j++) {
        residual[i] -= a[i * n + j] * x[j * width + k];
      }
    }
    double size = norm(b, m, width, k);
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int i = 0; i < m; i++) {
        sum += a[i * n + j] * residual[i];
      }
      assertThat(sum).isCloseTo(0, within(limit * size * norm(a, m, n, j)));
    }
  }

  /** Columns of any units, and one of zeros. */
  @Test
  void productsOfAnyUnits() {
    double[] units = {1, 1e200, 1e-200, 0, 1e-310};
    int m = 90;
    double[] b = random(m, units.length, 5);
    double[] plain = b.clone();
    for (int k = 0; k < b.length; k++) {
      b[k] *= units[k % units.length];
    }
    try (var qr = new CudaDenseQr(sessions(), 0, m, 20, true, 1)) {
      qr.factor(random(m, 20, 6));
      qr.applyQTransposed(plain, units.length);
      qr.applyQTransposed(b, units.length);
      double limit = Tolerances.of(m, 20, 1) * m;
      for (int k = 0; k < b.length; k++) {
        double unit = units[k % units.length];
        // rounding is absolute among the denormals
        double size = limit * unit + m * Double.MIN_VALUE;
        assertThat(b[k]).isCloseTo(unit * plain[k], within(size));
      }
      b[7] = Double.POSITIVE_INFINITY;
      assertThatThrownBy(() -> qr.applyQ(b, units.length))
          .isInstanceOf(NonFiniteValueException.class)
          .hasMessageContaining("row 1, column 2");
    }
  }

  @Test
  void badInput() {
    assertThatThrownBy(() -> new CudaDenseQr(sessions(), 0, 3, 4, false, 1))
        .isInstanceOf(DimensionMismatchException.class)
        .hasMessageContaining("3 x 4");
    try (var qr = new CudaDenseQr(sessions(), 0, 40, 4, false, 1)) {
      assertThatThrownBy(qr::r).isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(() -> qr.factor(new double[159]))
          .isInstanceOf(DimensionMismatchException.class);
      double[] a = random(40, 4, 1);
      a[4 * 17 + 2] = Double.NaN;
      assertThatThrownBy(() -> qr.factor(a))
          .isInstanceOf(NonFiniteValueException.class)
          .hasMessageContaining("row 17, column 2");
      qr.factor(random(40, 4, 2));
      assertThatThrownBy(qr::thinQ)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("Q was not kept");
    }
    try (var qr = new CudaDenseQr(sessions(), 0, 40, 4, true, 1)) {
      qr.factor(new double[160]);
      assertThatThrownBy(() -> qr.solve(new double[40], 1))
          .isInstanceOf(RankDeficientException.class);
    }
  }
}
