/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.tall;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.error.DimensionMismatchException;
import io.sparqr.numeric.SubtreeFactorizer;
import io.sparqr.numeric.Tolerances;
import io.sparqr.numeric.dense.BlasLoader;
import io.sparqr.numeric.dense.DenseQr;
import io.sparqr.numeric.dense.SmallDense;
import io.sparqr.threads.Crew;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * R'R = A'A entry by entry, in units of eps and the columns' norms, and the singular values of R
 * beside those of {@link DenseQr}'s, which a Cholesky factor of A'A would miss by sqrt(eps).
 */
public abstract class TallFrontContract {

  /** A factorizer of the backend under test. */
  protected abstract SubtreeFactorizer create();

  private final List<ChunkReducer> opened = new ArrayList<>();

  @AfterEach
  void close() {
    opened.forEach(ChunkReducer::close);
  }

  private TallFront front(int n, int chunk, int lanes, int threads) {
    var made = new ArrayList<ChunkReducer>();
    for (int k = 0; k < lanes; k++) {
      made.add(new ChunkReducer(this::create, n, chunk, threads));
    }
    opened.addAll(made);
    return new TallFront(made);
  }

  private double[] r(double[] a, int n, int chunk, int lanes, int threads) {
    try (TallFront front = front(n, chunk, lanes, threads)) {
      return r(a, n, front);
    }
  }

  private static double[] r(double[] a, int n, TallFront front) {
    int m = a.length / n;
    // one by one, then some at a time
    for (int i = 0; i < m / 3; i++) {
      double[] row = new double[n];
      System.arraycopy(a, i * n, row, 0, n);
      front.row(row);
    }
    front.rows(a, m / 3 * n, m - m / 3);
    assertThat(front.rows()).isEqualTo(m);
    return front.r();
  }

  /** Row-major. */
  private static double[] random(int m, int n, long seed) {
    var random = new Random(seed);
    double[] a = new double[m * n];
    for (int i = 0; i < a.length; i++) {
      a[i] = random.nextGaussian();
    }
    return a;
  }

  /** With the roundings added up (Ogita, Rump, Oishi 2005, algorithm 5.3). */
  private static double exact(double[] x, int n, int j, int k, int rows) {
    double sum = 0;
    double lost = 0;
    for (int i = 0; i < rows; i++) {
      double a = x[i * n + j];
      double b = x[i * n + k];
      double p = a * b;
      double t = sum + p;
      double z = t - sum;
      lost += Math.fma(a, b, -p) + ((sum - (t - z)) + (p - z));
      sum = t;
    }
    return sum + lost;
  }

  private static void check(double[] a, int n, double[] r, int reductions) {
    int m = a.length / n;
    double[] rows = new double[n * n];
    for (int j = 0; j < n; j++) {
      assertThat(r[j + j * n]).isNotNegative();
      for (int i = 0; i < n; i++) {
        rows[i * n + j] = r[i + j * n];
        assertThat(i <= j || r[i + j * n] == 0).isTrue();
      }
    }
    // each reduction adds some eps n; the units of a chunk are those of a whole factorization
    double limit = Tolerances.of(m, n, 1) * Math.sqrt(reductions);
    for (int j = 0; j < n; j += 1 + n / 12) {
      for (int k = j; k < n; k += 1 + n / 12) {
        double norms = Math.sqrt(exact(a, n, j, j, m)) * Math.sqrt(exact(a, n, k, k, m));
        assertThat(exact(rows, n, j, k, n))
            .as("A'A at %d, %d", j, k)
            .isCloseTo(exact(a, n, j, k, m), within(limit * norms));
      }
    }
    double[] sigma = sigma(r, n);
    double[] expected = sigma(host(a, n), n);
    for (int k = 0; k < n; k++) {
      assertThat(sigma[k]).as("sigma %d", k).isCloseTo(expected[k], within(limit * expected[0]));
    }
  }

  private static double[] host(double[] a, int n) {
    DenseQr.Builder builder = DenseQr.builder(BlasLoader.kernels(), n, Crew.ALONE);
    for (int i = 0; i < Math.max(n, a.length / n); i++) {
      double[] row = new double[n];
      System.arraycopy(a, Math.min(i * n, a.length), row, 0, i * n < a.length ? n : 0);
      builder.row(row);
    }
    return builder.factor().r();
  }

  private static double[] sigma(double[] r, int n) {
    double[] sigma = new double[n];
    SmallDense.svd(r, n, sigma, new double[n * n], new double[n * n]);
    return sigma;
  }

  @ParameterizedTest
  @CsvSource({
    "1000, 40, 300, 1",
    "1000, 40, 300, 2",
    "1000, 40, 100, 3",
    "1200, 40, 300, 2", // chunks that are all full
    "200, 40, 300, 2", // one
    "30, 40, 300, 1", // fewer rows than columns
    "1, 7, 7, 2",
    "700, 1, 64, 2",
    "3000, 130, 1000, 2", // several column tiles
    "900, 33, 33, 2" // chunks as small as they may be
  })
  void isTheFactorOfTheRows(int m, int n, int chunk, int lanes) {
    double[] a = random(m, n, m + n);
    check(a, n, r(a, n, chunk, lanes, 2), 1 + m / chunk);
  }

  /** Columns that depend on others to a few digits, wholly, and columns of zeros. */
  @ParameterizedTest
  @CsvSource({"1e-6", "1e-12", "1e-16", "0"})
  void columnsMayBeNearlyDependent(double distance) {
    int m = 2000;
    int n = 48;
    double[] a = random(m, n, 5);
    for (int i = 0; i < m; i++) {
      a[i * n + 20] = a[i * n + 3] + a[i * n + 4] + distance * a[i * n + 20];
      a[i * n + 41] = a[i * n + 40] * 3 + distance * a[i * n + 41];
      a[i * n + 30] = 0;
    }
    check(a, n, r(a, n, 500, 2, 2), 5);
  }

  /** Units that differ by 600 orders of magnitude, and one that grows from chunk to chunk. */
  @Test
  void columnsHaveUnitsOfTheirOwn() {
    int m = 900;
    int n = 36;
    double[] a = random(m, n, 6);
    double[] plain = r(a, n, 256, 2, 2);
    double[] r = r(scaled(a, n), n, 256, 2, 2);
    for (int k = 0; k < n; k++) {
      for (int i = 0; i <= k; i++) {
        double scaled = Math.scalb(r[i + k * n], -exponent(k));
        assertThat(scaled).isCloseTo(plain[i + k * n], within(Tolerances.of(m, n, 30)));
      }
    }
    double[] growing = random(m, n, 7);
    for (int i = 0; i < m; i++) {
      growing[i * n + 5] = Math.scalb(growing[i * n + 5], i / 10);
    }
    check(growing, n, r(growing, n, 100, 2, 2), 9);
    // too large for the scale of the first chunks
    double[] sudden = random(m, n, 8);
    for (int i = 0; i < 450; i++) {
      sudden[i * n + 5] = Math.scalb(sudden[i * n + 5], -1000);
    }
    for (int i = 450; i < m; i++) {
      sudden[i * n + 5] = Math.scalb(sudden[i * n + 5], 100);
    }
    check(sudden, n, r(sudden, n, 100, 2, 2), 9);
  }

  private static int exponent(int column) {
    return 250 * (column % 9) - 1000;
  }

  private static double[] scaled(double[] a, int n) {
    double[] all = new double[a.length];
    for (int e = 0; e < a.length; e++) {
      all[e] = Math.scalb(a[e], exponent(e % n));
    }
    return all;
  }

  @Test
  void bitsDependOnRowsAndChunksAlone() {
    double[] a = random(4000, 64, 7);
    double[] once = r(a, 64, 700, 2, 1);
    for (int threads = 1; threads < 4; threads++) {
      assertThat(r(a, 64, 700, 2, threads)).isEqualTo(once);
    }
  }

  @Test
  void anotherMatrixMayFollow() {
    double[] a = random(1000, 20, 8);
    double[] b = random(130, 20, 9);
    try (TallFront front = front(20, 100, 2, 2)) {
      assertThat(r(a, 20, front)).isEqualTo(r(a, 20, 100, 2, 2));
      assertThat(front.rows()).isZero();
      assertThat(r(b, 20, front)).isEqualTo(r(b, 20, 100, 2, 2));
    }
  }

  @Test
  void withoutRowsAllIsZero() {
    assertThat(r(new double[0], 5, 10, 2, 1)).containsOnly(0);
  }

  @Test
  void aRowOfAnotherLengthIsRefused() {
    try (TallFront front = front(3, 10, 1, 1)) {
      assertThatThrownBy(() -> front.row(new double[4]))
          .isInstanceOf(DimensionMismatchException.class)
          .hasMessage("row 0 has 4 values, the matrix 3 columns");
    }
  }
}
