/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign;

import io.sparqr.campaign.Family.Kind;
import io.sparqr.sparse.CsrMatrix;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Families with a gap between the singular values that count and those that do not. */
final class GapFamilies {

  private GapFamilies() {}

  static List<Family> all() {
    return List.of(
        new Family("integers", Kind.GAP, GapFamilies::integers),
        new Family("random-rank", Kind.GAP, GapFamilies::randomRank),
        new Family("duplicates", Kind.GAP, GapFamilies::duplicates),
        new Family("one-hot", Kind.GAP, GapFamilies::oneHot),
        new Family("boundary", Kind.GAP, GapFamilies::boundary),
        new Family("column-sums", Kind.GAP, GapFamilies::columnSums),
        new Family("incidence", Kind.GAP, GapFamilies::incidence),
        new Family("sparse", Kind.GAP, GapFamilies::sparse),
        new Family("blank-lines", Kind.GAP, GapFamilies::blankLines));
  }

  /** Small integers, a few columns integer combinations of others. */
  private static CsrMatrix integers(Random random) {
    int n = Family.columns(random);
    int m = Family.rows(n, random);
    double fill = 0.2 + 0.8 * random.nextDouble();
    double[][] a = new double[m][n];
    for (double[] row : a) {
      for (int j = 0; j < n; j++) {
        row[j] = random.nextDouble() < fill ? random.nextInt(19) - 9 : 0;
      }
    }
    for (int k = random.nextInt(4); k > 0 && n > 2; k--) {
      combine(a, random.nextInt(n), random, random.nextInt(5) - 2);
    }
    return Family.sparse(a, n);
  }

  /** Column j becomes a multiple of one column plus another one. */
  private static void combine(double[][] a, int j, Random random, double factor) {
    int n = a[0].length;
    int p = (j + 1 + random.nextInt(n - 1)) % n;
    int q = (j + 1 + random.nextInt(n - 1)) % n;
    for (double[] row : a) {
      row[j] = factor * row[p] + row[q];
    }
  }

  /** A product of two random factors, rounded. */
  private static CsrMatrix randomRank(Random random) {
    int n = Family.columns(random);
    int m = Family.rows(n, random);
    int r = 1 + random.nextInt(Math.min(m, n));
    double[][] left = gaussian(m, r, random);
    double[][] right = gaussian(r, n, random);
    double[][] a = new double[m][n];
    for (int i = 0; i < m; i++) {
      for (int j = 0; j < n; j++) {
        for (int k = 0; k < r; k++) {
          a[i][j] += left[i][k] * right[k][j];
        }
      }
    }
    return Family.sparse(a, n);
  }

  static double[][] gaussian(int m, int n, Random random) {
    double[][] a = new double[m][n];
    for (double[] row : a) {
      for (int j = 0; j < n; j++) {
        row[j] = random.nextGaussian();
      }
    }
    return a;
  }

  /** Copies of columns, exact or times a factor. */
  private static CsrMatrix duplicates(Random random) {
    int n = 1 + Family.columns(random);
    int m = Family.rows(n, random);
    double[][] a = gaussian(m, n, random);
    for (int k = 1 + random.nextInt(3); k > 0; k--) {
      int to = random.nextInt(n);
      int from = random.nextInt(n);
      double factor = random.nextBoolean() ? 1 : random.nextGaussian();
      for (double[] row : a) {
        row[to] = factor * row[from];
      }
    }
    return Family.sparse(a, n);
  }

  /** Dummies of two or three factors, perhaps an intercept: as many dependencies as factors. */
  private static CsrMatrix oneHot(Random random) {
    int factors = 2 + random.nextInt(2);
    int[] levels = random.ints(factors, 2, 12).toArray();
    int n = 1;
    for (int l : levels) {
      n += l;
    }
    int m = n + random.nextInt(3 * n);
    double[][] a = new double[m][n];
    boolean intercept = random.nextBoolean();
    double scale = random.nextInt(3) == 0 ? random.nextDouble() : 1;
    for (double[] row : a) {
      row[0] = intercept ? 1 : random.nextGaussian();
      int at = 1;
      for (int l : levels) {
        row[at + random.nextInt(l)] = scale;
        at += l;
      }
    }
    return Family.sparse(a, n);
  }

  /** Boundary of the triangles of a random complex on few vertices: edges by triangles. */
  private static CsrMatrix boundary(Random random) {
    int v = 4 + random.nextInt(4);
    var triangles = new ArrayList<int[]>();
    for (int i = 0; i < v; i++) {
      for (int j = i + 1; j < v; j++) {
        for (int k = j + 1; k < v; k++) {
          if (random.nextInt(3) > 0) {
            triangles.add(new int[] {i, j, k});
          }
        }
      }
    }
    int n = Math.max(1, triangles.size());
    double[][] a = new double[v * (v - 1) / 2][n];
    for (int t = 0; t < triangles.size(); t++) {
      int[] s = triangles.get(t);
      a[edge(s[0], s[1], v)][t] = 1;
      a[edge(s[1], s[2], v)][t] = 1;
      a[edge(s[0], s[2], v)][t] = -1;
    }
    return random.nextBoolean() ? Family.sparse(a, n) : Family.sparse(a, n).transpose();
  }

  private static int edge(int i, int j, int v) {
    return i * v - i * (i + 1) / 2 + j - i - 1;
  }

  /** Columns that are sums of some others, rounded. */
  private static CsrMatrix columnSums(Random random) {
    int n = 2 + Family.columns(random);
    int m = Family.rows(n, random);
    double[][] a = gaussian(m, n, random);
    for (int k = 1 + random.nextInt(2); k > 0; k--) {
      int to = random.nextInt(n);
      boolean[] of = new boolean[n];
      for (int j = 0; j < n; j++) {
        of[j] = j != to && random.nextInt(3) == 0;
      }
      for (double[] row : a) {
        row[to] = 0;
        for (int j = 0; j < n; j++) {
          row[to] += of[j] ? row[j] : 0;
        }
      }
    }
    return Family.sparse(a, n);
  }

  /** Edges by nodes, several components. */
  private static CsrMatrix incidence(Random random) {
    int n = 2 + Family.columns(random);
    int m = 1 + random.nextInt(3 * n);
    double[][] a = new double[m][n];
    for (double[] row : a) {
      int i = random.nextInt(n);
      int j = random.nextInt(n);
      row[i] += 1;
      row[j] -= 1;
    }
    return Family.sparse(a, n);
  }

  /** A few random entries a row. */
  private static CsrMatrix sparse(Random random) {
    int n = 1 + Family.columns(random);
    int m = Family.rows(n, random);
    double[][] a = new double[m][n];
    for (double[] row : a) {
      for (int k = 1 + random.nextInt(4); k > 0; k--) {
        row[random.nextInt(n)] = random.nextGaussian();
      }
    }
    return Family.sparse(a, n);
  }

  /** Some rows and columns without entries, perhaps all of them. */
  private static CsrMatrix blankLines(Random random) {
    int n = Family.columns(random);
    int m = Family.rows(n, random);
    double[][] a = gaussian(m, n, random);
    double blank = random.nextDouble();
    for (int j = 0; j < n; j++) {
      if (random.nextDouble() < blank) {
        for (double[] row : a) {
          row[j] = 0;
        }
      }
    }
    for (int i = 0; i < m; i++) {
      a[i] = random.nextDouble() < blank / 2 ? new double[n] : a[i];
    }
    return Family.sparse(a, n);
  }
}
