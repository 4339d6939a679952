/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.dense;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.ludovic.netlib.lapack.JavaLAPACK;
import io.sparqr.error.DimensionMismatchException;
import io.sparqr.error.RankDeficientException;
import io.sparqr.numeric.Tolerances;
import io.sparqr.threads.Crew;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.netlib.util.intW;

/**
 * A = QR and Q'Q = I column by column, in units of eps, whatever the condition; R beside LAPACK's.
 */
class DenseQrTest {

  /** Runs the last piece first: nothing may depend on the order. */
  private static final Crew BACKWARDS =
      (count, task) -> {
        for (int i = count - 1; i >= 0; i--) {
          task.accept(i);
        }
      };

  private final DenseKernels kernels = BlasLoader.kernels();

  private DenseQr factor(double[] a, int m, int n, int capacity, Crew crew) {
    var builder = new DenseQr.Builder(kernels, n, crew, capacity).keepQ();
    return builder.rows(a, m, m).factor();
  }

  private static double[] random(int m, int n, long seed) {
    var random = new Random(seed);
    double[] a = new double[m * n];
    for (int i = 0; i < a.length; i++) {
      a[i] = random.nextGaussian();
    }
    return a;
  }

  /** Everything that must hold of a factorization, in units of eps. */
  private static void check(DenseQr qr, double[] a, int m, int n) {
    int k = Math.min(m, n);
    assertThat(qr.rows()).isEqualTo(m);
    assertThat(qr.columns()).isEqualTo(n);
    assertThat(qr.height()).isEqualTo(k);
    double[] r = qr.r();
    for (int j = 0; j < n; j++) {
      for (int i = j + 1; i < k; i++) {
        assertThat(r[i + j * k]).isZero();
      }
    }
    for (int j = 0; j < k; j++) {
      assertThat(r[j + j * k]).isGreaterThanOrEqualTo(0);
    }
    double[] q = qr.thinQ();
    requireOrthonormal(q, m, k);
    for (int j = 0; j < n; j++) {
      double[] error = new double[m];
      double[] column = new double[m];
      // by powers of two, so that columns of 1e300 and 1e-300 have norms
      int e = exponent(a, j * m, m);
      for (int i = 0; i < m; i++) {
        column[i] = Math.scalb(a[i + j * m], -e);
        double sum = 0;
        for (int l = 0; l <= Math.min(j, k - 1); l++) {
          sum = Math.fma(q[i + l * m], Math.scalb(r[l + j * k], -e), sum);
        }
        error[i] = sum - column[i];
      }
      double norm = Reflectors.norm(column, 0, m);
      assertThat(Reflectors.norm(error, 0, m))
          .as("column %d of %d x %d", j, m, n)
          .isLessThanOrEqualTo(Tolerances.of(m, n, norm));
    }
    double[] copy = a.clone();
    qr.applyQTransposed(copy, n);
    for (int j = 0; j < n; j++) {
      double[] difference = new double[m];
      int e = exponent(a, j * m, m);
      for (int i = 0; i < m; i++) {
        double expected = i < k ? r[i + j * k] : 0;
        difference[i] = Math.scalb(copy[i + j * m], -e) - Math.scalb(expected, -e);
      }
      assertThat(Reflectors.norm(difference, 0, m))
          .isLessThanOrEqualTo(Tolerances.of(m, n, 2 * Math.sqrt(m)));
    }
    qr.applyQ(copy, n);
    for (int j = 0; j < n; j++) {
      double[] difference = new double[m];
      int e = exponent(a, j * m, m);
      for (int i = 0; i < m; i++) {
        difference[i] = Math.scalb(copy[i + j * m] - a[i + j * m], -e);
      }
      assertThat(Reflectors.norm(difference, 0, m))
          .isLessThanOrEqualTo(Tolerances.of(m, n, 2 * Math.sqrt(m)));
    }
  }

  private static int exponent(double[] a, int from, int length) {
    double most = 0;
    for (int i = from; i < from + length; i++) {
      most = Math.max(most, Math.abs(a[i]));
    }
    return most == 0 ? 0 : Math.getExponent(most);
  }

  private static void requireOrthonormal(double[] q, int m, int k) {
    for (int a = 0; a < k; a++) {
      for (int b = 0; b <= a; b++) {
        double sum = 0;
        for (int i = 0; i < m; i++) {
          sum = Math.fma(q[i + a * m], q[i + b * m], sum);
        }
        assertThat(Math.abs(sum - (a == b ? 1 : 0)))
            .as("columns %d and %d of Q, %d x %d", a, b, m, k)
            .isLessThanOrEqualTo(Tolerances.of(m, k, 1));
      }
    }
  }

  /** The capacity of a chunk below, at and above the rows. */
  @ParameterizedTest
  @CsvSource({
    "1, 1, 2",
    "5, 5, 6",
    "7, 3, 100",
    "3, 7, 8",
    "40, 64, 65",
    "200, 40, 41",
    "200, 40, 64",
    "64, 64, 65",
    "300, 100, 128",
    "1000, 33, 200",
    "2000, 65, 700"
  })
  void factorsShapes(int m, int n, int capacity) {
    double[] a = random(m, n, 31L * m + n);
    DenseQr qr = factor(a, m, n, capacity, Crew.ALONE);
    check(qr, a, m, n);
    DenseQr other = factor(a, m, n, capacity, BACKWARDS);
    assertThat(other.r()).isEqualTo(qr.r());
    assertThat(other.thinQ()).isEqualTo(qr.thinQ());
  }

  @Test
  void theFullQHasTheThinOneInItsFirstColumns() {
    for (int[] s : new int[][] {{30, 7, 8}, {150, 20, 50}, {6, 9, 10}}) {
      double[] a = random(s[0], s[1], 5);
      DenseQr qr = factor(a, s[0], s[1], s[2], Crew.ALONE);
      double[] full = qr.fullQ();
      requireOrthonormal(full, s[0], s[0]);
      double[] thin = qr.thinQ();
      for (int i = 0; i < thin.length; i++) {
        assertThat(full[i]).isCloseTo(thin[i], within(Tolerances.REORDERED));
      }
    }
  }

  /** Where A R^-1 would not be orthogonal. */
  @Test
  void qIsOrthonormalWhateverTheCondition() {
    int m = 120;
    int n = 24;
    double[] hilbert = new double[m * n];
    double[] vandermonde = new double[m * n];
    double[] laeuchli = new double[m * n];
    double[] graded = random(m, n, 3);
    double[] twins = random(m, n, 4);
    for (int j = 0; j < n; j++) {
      for (int i = 0; i < m; i++) {
        hilbert[i + j * m] = 1.0 / (i + j + 1);
        vandermonde[i + j * m] = Math.pow((i + 1.0) / m, j);
        laeuchli[i + j * m] = i == 0 ? 1 : i == j + 1 ? 0x1p-40 : 0;
        graded[i + j * m] *= Math.pow(10, -300 + 600.0 * j / (n - 1));
        twins[i + j * m] = j % 2 == 1 ? twins[i + (j - 1) * m] : twins[i + j * m];
      }
    }
    for (double[] a : new double[][] {hilbert, vandermonde, laeuchli, graded, twins}) {
      for (int capacity : new int[] {25, 40, 1000}) {
        check(factor(a, m, n, capacity, Crew.ALONE), a, m, n);
      }
    }
    check(factor(new double[m * n], m, n, 40, Crew.ALONE), new double[m * n], m, n);
  }

  @Test
  void rIsThatOfLapack() {
    int m = 400;
    int n = 50;
    double[] a = random(m, n, 11);
    double[] lapack = a.clone();
    var info = new intW(0);
    JavaLAPACK.getInstance()
        .dgeqrf(m, n, lapack, m, new double[n], new double[64 * n], 64 * n, info);
    assertThat(info.val).isZero();
    double[] r = factor(a, m, n, 90, Crew.ALONE).r();
    double norm = Reflectors.norm(a, 0, a.length);
    for (int j = 0; j < n; j++) {
      for (int i = 0; i <= j; i++) {
        double sign = Math.signum(lapack[i + i * m]);
        assertThat(r[i + j * n])
            .isCloseTo(sign * lapack[i + j * m], within(Tolerances.of(m, n, norm)));
      }
    }
  }

  @Test
  void solutionsHaveResidualsOrthogonalToTheColumns() {
    int m = 900;
    int n = 30;
    int width = 3;
    double[] a = random(m, n, 21);
    double[] b = random(m, width, 22);
    double[] x = factor(a, m, n, 128, Crew.ALONE).solve(b.clone(), width);
    for (int k = 0; k < width; k++) {
      double[] residual = new double[m];
      for (int i = 0; i < m; i++) {
        double sum = b[i + k * m];
        for (int j = 0; j < n; j++) {
          sum = Math.fma(-a[i + j * m], x[j + k * n], sum);
        }
        residual[i] = sum;
      }
      for (int j = 0; j < n; j++) {
        double sum = 0;
        for (int i = 0; i < m; i++) {
          sum = Math.fma(a[i + j * m], residual[i], sum);
        }
        double norms = Reflectors.norm(a, j * m, m) * Reflectors.norm(residual, 0, m);
        assertThat(Math.abs(sum)).isLessThanOrEqualTo(Tolerances.of(m, n, norms));
      }
    }
  }

  @Test
  void rowsOneByOneAreTheColumnsAtOnce() {
    int m = 500;
    int n = 20;
    double[] a = random(m, n, 6);
    var builder = new DenseQr.Builder(kernels, n, Crew.ALONE, 64).keepQ();
    for (int i = 0; i < m; i++) {
      double[] row = new double[n];
      for (int j = 0; j < n; j++) {
        row[j] = a[i + j * m];
      }
      builder.row(row);
    }
    DenseQr qr = builder.factor();
    assertThat(qr.r()).isEqualTo(factor(a, m, n, 64, Crew.ALONE).r());
  }

  /** Also in the places of earlier rows, which have other entries. */
  @Test
  void whatIsNotGivenOfARowIsZero() {
    int m = 300;
    int n = 12;
    double[] a = random(m, n, 7);
    var random = new Random(8);
    var builder = new DenseQr.Builder(kernels, n, Crew.ALONE, 40).keepQ();
    for (int i = 0; i < m; i++) {
      int[] column = new int[n + 1];
      double[] value = new double[n + 1];
      int to = 1; // an entry before the row's
      for (int j = n - 1; j >= 0; j--) {
        if (random.nextInt(3) > 0) {
          a[i + j * m] = 0;
        } else {
          column[to] = j;
          value[to++] = a[i + j * m];
        }
      }
      builder.row(column, value, 1, to);
    }
    assertThat(builder.factor().r()).isEqualTo(factor(a, m, n, 40, Crew.ALONE).r());
    assertThatThrownBy(() -> builder.row(new int[] {n}, new double[] {1}, 0, 1))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }

  /** A chunk of B at a time gives the bits of the whole. */
  @ParameterizedTest
  @CsvSource({"40, 7, 9", "40, 7, 39", "40, 7, 64", "300, 33, 45", "9, 9, 12", "5, 8, 12"})
  void rowsOfRightHandSidesMayArriveOneByOne(int m, int n, int capacity) {
    var random = new Random(m + 31L * n);
    double[] a = random.doubles((long) m * n).toArray();
    int width = 70;
    double[] b = random.doubles((long) m * width).toArray();
    DenseKernels kernels = BlasLoader.kernels();
    DenseQr qr =
        new DenseQr.Builder(kernels, n, Crew.ALONE, capacity).keepQ().rows(a, m, m).factor();
    ChunkedProduct product = qr.product(width);
    double[] row = new double[width];
    for (int i = 0; i < m; i++) {
      assertThat(product.rows()).isEqualTo(i);
      assertThatThrownBy(product::top)
          .isInstanceOf(DimensionMismatchException.class)
          .hasMessage(i + " rows, the matrix has " + m);
      for (int k = 0; k < width; k++) {
        row[k] = b[i + k * m];
      }
      product.row(row);
    }
    assertThatThrownBy(() -> product.row(row))
        .isInstanceOf(DimensionMismatchException.class)
        .hasMessage("more rows than the matrix has: " + m);
    qr.applyQTransposed(b, width);
    double[] top = new double[qr.height() * width];
    for (int k = 0; k < width; k++) {
      System.arraycopy(b, k * m, top, k * qr.height(), qr.height());
    }
    assertThat(product.top()).isEqualTo(top);
  }

  @Test
  void badInput() {
    double[] a = random(10, 3, 8);
    var builder = DenseQr.builder(kernels, 3, Crew.ALONE);
    assertThatThrownBy(() -> builder.row(new double[4]))
        .isInstanceOf(DimensionMismatchException.class)
        .hasMessage("row 0 has 4 values, the matrix 3 columns");
    DenseQr withoutQ = builder.rows(a, 10, 10).factor();
    assertThatThrownBy(withoutQ::thinQ)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("keepQ()");
    DenseQr qr = factor(a, 10, 3, 4, Crew.ALONE);
    assertThatThrownBy(() -> qr.applyQ(new double[11], 1))
        .isInstanceOf(DimensionMismatchException.class);
    double[] second = a.clone();
    Arrays.fill(second, 10, 20, 0);
    DenseQr deficient = factor(second, 10, 3, 4, Crew.ALONE);
    assertThatThrownBy(() -> deficient.solve(new double[10], 1))
        .isInstanceOf(RankDeficientException.class)
        .hasMessage("column 1 is a combination of those before it");
    DenseQr wide = factor(a, 3, 10, 11, Crew.ALONE);
    assertThatThrownBy(() -> wide.solve(new double[3], 1))
        .isInstanceOf(RankDeficientException.class)
        .hasMessage("3 rows cannot determine 10 columns");
  }
}
