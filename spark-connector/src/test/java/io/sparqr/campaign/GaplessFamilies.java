/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign;

import io.sparqr.campaign.Family.Kind;
import io.sparqr.sparse.CsrMatrix;
import java.util.List;
import java.util.Random;

/** Families whose singular values decay without a gap, down to rounding errors and below. */
final class GaplessFamilies {

  private GaplessFamilies() {}

  static List<Family> all() {
    return List.of(
        new Family("cosines", Kind.NO_GAP, GaplessFamilies::cosines),
        new Family("hilbert", Kind.NO_GAP, GaplessFamilies::hilbert),
        new Family("vandermonde", Kind.NO_GAP, GaplessFamilies::vandermonde),
        new Family("kahan", Kind.NO_GAP, GaplessFamilies::kahan),
        new Family("prolate", Kind.NO_GAP, GaplessFamilies::prolate),
        new Family("decaying", Kind.NO_GAP, GaplessFamilies::decaying),
        new Family("float-sums", Kind.NO_GAP, GaplessFamilies::floatSums),
        new Family("decimal-integers", Kind.NO_GAP, GaplessFamilies::decimalIntegers),
        new Family("nearly-equal", Kind.NO_GAP, GaplessFamilies::nearlyEqual));
  }

  /** cos(i j / t). */
  private static CsrMatrix cosines(Random random) {
    int n = 2 + random.nextInt(34);
    int m = n + (random.nextBoolean() ? 0 : random.nextInt(n));
    double t = 2 + random.nextInt(40);
    return fill(m, n, (i, j) -> Math.cos(i * j / t));
  }

  /** 1 / (i + j + 1), perhaps with a shift. */
  private static CsrMatrix hilbert(Random random) {
    int n = 2 + random.nextInt(24);
    int m = n + (random.nextBoolean() ? 0 : random.nextInt(n));
    int shift = random.nextInt(4);
    return fill(m, n, (i, j) -> 1.0 / (i + j + 1 + shift));
  }

  /** Powers of points in [0, 1] or [-1, 1], equally spaced or random. */
  private static CsrMatrix vandermonde(Random random) {
    int n = 2 + random.nextInt(28);
    int m = n + random.nextInt(2 * n);
    double low = random.nextBoolean() ? 0 : -1;
    boolean equal = random.nextBoolean();
    double[] t = new double[m];
    for (int i = 0; i < m; i++) {
      double u = equal ? (double) i / Math.max(1, m - 1) : random.nextDouble();
      t[i] = low + (1 - low) * u;
    }
    return fill(m, n, (i, j) -> Math.pow(t[i], j));
  }

  /** Kahan's triangular matrix diag(s^i) (I - c N) (Golub and Van Loan 2013, section 5.4.3). */
  private static CsrMatrix kahan(Random random) {
    int n = 2 + random.nextInt(68);
    double c = Math.cos(0.2 + 1.2 * random.nextDouble());
    double s = Math.sqrt(1 - c * c);
    return fill(n, n, (i, j) -> i > j ? 0 : Math.pow(s, i) * (i == j ? 1 : -c));
  }

  /** The prolate matrix, sin(2 pi w (i - j)) / (pi (i - j)) (Varah 1993). */
  private static CsrMatrix prolate(Random random) {
    int n = 2 + random.nextInt(50);
    double w = 0.05 + 0.4 * random.nextDouble();
    return fill(
        n, n, (i, j) -> i == j ? 2 * w : Math.sin(2 * Math.PI * w * (i - j)) / (Math.PI * (i - j)));
  }

  /** Singular values 1, q, q^2, ... between random singular vectors. */
  private static CsrMatrix decaying(Random random) {
    int n = 2 + random.nextInt(38);
    int m = n + random.nextInt(n + 1);
    double q = Math.pow(10, -(4 + 30 * random.nextDouble()) / n);
    double[][] left = orthonormal(m, n, random);
    double[][] right = orthonormal(n, n, random);
    return fill(
        m,
        n,
        (i, j) -> {
          double sum = 0;
          for (int k = 0; k < n; k++) {
            sum += left[k][i] * Math.pow(q, k) * right[k][j];
          }
          return sum;
        });
  }

  /** Columns that are sums of two others, rounded to a float. */
  private static CsrMatrix floatSums(Random random) {
    int n = 3 + random.nextInt(20);
    int m = n + random.nextInt(3 * n);
    double[][] a = GapFamilies.gaussian(m, n, random);
    for (int k = 1 + random.nextInt(2); k > 0; k--) {
      int to = random.nextInt(n);
      int p = (to + 1) % n;
      int q = (to + 2) % n;
      for (double[] row : a) {
        row[to] = (float) (row[p] + row[q]);
      }
    }
    return Family.sparse(a, n);
  }

  /** Integers with dependencies, each column and row times a power of ten: not exact any more. */
  private static CsrMatrix decimalIntegers(Random random) {
    int n = 3 + random.nextInt(60);
    double fill = 0.2 + 0.5 * random.nextDouble();
    double[][] a = new double[n][n];
    for (double[] row : a) {
      for (int j = 0; j < n; j++) {
        row[j] = random.nextDouble() < fill ? random.nextInt(9) - 4 : 0;
      }
    }
    for (int k = 1 + random.nextInt(3); k > 0; k--) {
      int to = random.nextInt(n);
      int p = (to + 1 + random.nextInt(n - 1)) % n;
      int q = (to + 1 + random.nextInt(n - 1)) % n;
      for (double[] row : a) {
        row[to] = row[p] - row[q];
      }
    }
    int spread = 1 + random.nextInt(7);
    int[] column = random.ints(n, -spread, spread + 1).toArray();
    int[] rowPower = random.ints(n, -spread / 2, spread / 2 + 1).toArray();
    boolean rows = random.nextBoolean();
    return fill(
        n, n, (i, j) -> a[i][j] * Math.pow(10, column[j]) * (rows ? Math.pow(10, rowPower[i]) : 1));
  }

  /** Columns that differ from another one by 1e-4 to 1e-16 of its size. */
  private static CsrMatrix nearlyEqual(Random random) {
    int n = 2 + random.nextInt(12);
    int m = n + random.nextInt(3 * n);
    double[][] a = GapFamilies.gaussian(m, n, random);
    for (int k = 1 + random.nextInt(3); k > 0; k--) {
      int to = random.nextInt(n);
      int from = random.nextInt(n);
      double by = Math.pow(10, -4 - 12 * random.nextDouble());
      for (double[] row : a) {
        row[to] = row[from] + by * random.nextGaussian();
      }
    }
    return Family.sparse(a, n);
  }

  /** An entry by its row and column. */
  private interface Entry {
    double at(int i, int j);
  }

  private static CsrMatrix fill(int m, int n, Entry entry) {
    double[][] a = new double[m][n];
    for (int i = 0; i < m; i++) {
      for (int j = 0; j < n; j++) {
        a[i][j] = entry.at(i, j);
      }
    }
    return Family.sparse(a, n);
  }

  /** k orthonormal vectors of size m, by Gram and Schmidt twice. */
  private static double[][] orthonormal(int m, int k, Random random) {
    double[][] q = GapFamilies.gaussian(k, m, random);
    for (int c = 0; c < k; c++) {
      for (int pass = 0; pass < 2; pass++) {
        for (int d = 0; d < c; d++) {
          add(q[c], -dot(q[c], q[d]), q[d]);
        }
      }
      double norm = Math.sqrt(dot(q[c], q[c]));
      for (int i = 0; i < m; i++) {
        q[c][i] /= norm;
      }
    }
    return q;
  }

  private static double dot(double[] x, double[] y) {
    double s = 0;
    for (int i = 0; i < x.length; i++) {
      s += x[i] * y[i];
    }
    return s;
  }

  private static void add(double[] x, double factor, double[] y) {
    for (int i = 0; i < x.length; i++) {
      x[i] += factor * y[i];
    }
  }
}
