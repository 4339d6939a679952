/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign;

import io.sparqr.sparse.CsrMatrix;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Function;

/**
 * Matrices of one kind, 1 to 70 columns.
 *
 * @param name of the family, lower case
 * @param kind what may be asked of an answer
 * @param matrix draws a matrix
 */
record Family(String name, Kind kind, Function<Random, CsrMatrix> matrix) {

  /** What may be asked of an answer. */
  enum Kind {
    /** Dependencies, if any, are far from the other singular values. */
    GAP,
    /** Singular values decay without a gap: more than one rank is plausible. */
    NO_GAP,
    /** Edges of a graph with unequal weights, without a fixed node. */
    NETWORK,
    /** Columns near the limits of doubles: an error is an answer. */
    EXTREME,
    /** Rows too: a small singular value need not be rounding. */
    GRADED;

    /** Whether the solution may be out of range. */
    boolean outOfRange() {
      return this == EXTREME || this == GRADED;
    }
  }

  /** All families. */
  static List<Family> all() {
    var all = new ArrayList<Family>();
    all.addAll(GapFamilies.all());
    all.addAll(GaplessFamilies.all());
    all.addAll(NetworkFamilies.all());
    all.addAll(ExtremeFamilies.all());
    return List.copyOf(all);
  }

  /** The entries other than 0. */
  static CsrMatrix sparse(double[][] dense, int n) {
    int m = dense.length;
    int count = 0;
    for (double[] row : dense) {
      for (double v : row) {
        count += v == 0 ? 0 : 1;
      }
    }
    int[] start = new int[m + 1];
    int[] index = new int[count];
    double[] values = new double[count];
    int at = 0;
    for (int i = 0; i < m; i++) {
      for (int j = 0; j < n; j++) {
        if (dense[i][j] != 0) {
          index[at] = j;
          values[at++] = dense[i][j];
        }
      }
      start[i + 1] = at;
    }
    return new CsrMatrix(m, n, start, index, values);
  }

  /** Columns: 1 to 70, mostly few. */
  static int columns(Random random) {
    return random.nextInt(8) == 0 ? 1 + random.nextInt(70) : 1 + random.nextInt(20);
  }

  /** Rows for n columns: more, as many, fewer. */
  static int rows(int n, Random random) {
    return switch (random.nextInt(6)) {
      case 0 -> n;
      case 1 -> Math.max(1, n - 1 - random.nextInt(n));
      default -> n + random.nextInt(2 * n + 3);
    };
  }
}
