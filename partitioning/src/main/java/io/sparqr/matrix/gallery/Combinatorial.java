/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.matrix.gallery;

import io.sparqr.error.IndexOverflowException;
import io.sparqr.sparse.CsrMatrix;
import java.util.Arrays;

/** The gallery's matrices from combinatorics: integers, rank deficient, no geometry. */
final class Combinatorial {

  private Combinatorial() {}

  /**
   * Boundary map from the (k+1)-rook placements on a p x q board to the k-rook placements (Björner,
   * Lovász, Vrećica, Živaljević 1994). A placement is numbered by the set of its board rows, in
   * lexicographic order, then by its sequence of board columns. Row r has k+1 entries; leaving out
   * rook i (by board row) gives (-1)^i.
   */
  static CsrMatrix chessboard(int p, int q, int k) {
    int m = placements(p, q, k + 1);
    int n = placements(p, q, k);
    int width = k + 1;
    int[] start = new int[m + 1];
    int entries = size((long) m * width, "entries");
    int[] index = new int[entries];
    double[] value = new double[entries];
    int[] boardRow = new int[width];
    int[] boardColumn = new int[width];
    int[] order = new int[width];
    for (int r = 0; r <= k; r++) {
      boardRow[r] = r;
    }
    int row = 0;
    do {
      for (int r = 0; r <= k; r++) {
        boardColumn[r] = r;
      }
      do {
        int at = row * width;
        for (int i = 0; i <= k; i++) {
          order[i] = number(p, q, boardRow, boardColumn, i);
        }
        sortedBySize(order, index, value, at);
        start[++row] = at + width;
      } while (nextArrangement(boardColumn, q));
    } while (nextCombination(boardRow, p));
    return new CsrMatrix(m, n, start, index, value);
  }

  /** Sorts the column numbers ascending, each with the sign of its place. */
  private static void sortedBySize(int[] column, int[] index, double[] value, int at) {
    for (int i = 0; i < column.length; i++) {
      int q = at + i;
      while (q > at && index[q - 1] > column[i]) {
        index[q] = index[q - 1];
        value[q] = value[q - 1];
        q--;
      }
      index[q] = column[i];
      value[q] = (i & 1) == 0 ? 1 : -1;
    }
  }

  /** The number of the placement without rook {@code out}. */
  private static int number(int p, int q, int[] boardRow, int[] boardColumn, int out) {
    int k = boardRow.length - 1;
    long rank = 0;
    int previous = -1;
    int place = 0;
    for (int i = 0; i <= k; i++) {
      if (i == out) {
        continue;
      }
      for (int r = previous + 1; r < boardRow[i]; r++) {
        rank += choose(p - 1 - r, k - 1 - place);
      }
      previous = boardRow[i];
      place++;
    }
    long used = 0;
    place = 0;
    for (int i = 0; i <= k; i++) {
      if (i == out) {
        continue;
      }
      int c = boardColumn[i];
      int free = c - Long.bitCount(used & ((1L << c) - 1));
      rank = rank * (q - place) + free;
      used |= 1L << c;
      place++;
    }
    return (int) rank;
  }

  private static boolean nextCombination(int[] set, int n) {
    int k = set.length;
    for (int i = k - 1; i >= 0; i--) {
      if (set[i] < n - k + i) {
        set[i]++;
        for (int j = i + 1; j < k; j++) {
          set[j] = set[j - 1] + 1;
        }
        return true;
      }
    }
    return false;
  }

  /** The next sequence of distinct numbers below n, lexicographically. */
  private static boolean nextArrangement(int[] sequence, int n) {
    long used = 0;
    for (int c : sequence) {
      used |= 1L << c;
    }
    for (int i = sequence.length - 1; i >= 0; i--) {
      used &= ~(1L << sequence[i]);
      long larger = ~used & -(2L << sequence[i]) & ((1L << n) - 1);
      if (larger != 0) {
        sequence[i] = Long.numberOfTrailingZeros(larger);
        used |= 1L << sequence[i];
        for (int j = i + 1; j < sequence.length; j++) {
          sequence[j] = Long.numberOfTrailingZeros(~used);
          used |= 1L << sequence[j];
        }
        return true;
      }
    }
    return false;
  }

  private static int placements(int p, int q, int rooks) {
    double estimate = 1;
    for (int i = 0; i < rooks; i++) {
      estimate *= (double) (p - i) * (q - i) / (i + 1);
    }
    if (estimate > Integer.MAX_VALUE - 16) {
      throw new IndexOverflowException(
          "the " + p + " x " + q + " board has too many placements of " + rooks + " rooks",
          "placements",
          (long) estimate);
    }
    long count = choose(p, rooks);
    for (int i = 0; i < rooks; i++) {
      count *= q - i;
    }
    return (int) count;
  }

  private static long choose(int n, int k) {
    if (k < 0 || k > n) {
      return 0;
    }
    long c = 1;
    for (int i = 1; i <= k; i++) {
      c = c * (n - k + i) / i;
    }
    return c;
  }

  /**
   * Transposed Adams-Johnson linearisation of the quadratic assignment problem (Adams and Johnson
   * 1994; Resende, Ramakrishnan, Drezner 1995). One row per variable: x_ij, i and j in 0..N-1, then
   * y_ijkl, i &lt; k and j != l (y_ijkl is y_klij). One column per constraint: sum_j x_ij = 1 for
   * each i; sum_i x_ij = 1 for each j; sum_l y_ijkl = x_ij for each i, j, k != i; sum_k y_ijkl =
   * x_ij for each i, j, l != j.
   */
  static CsrMatrix quadraticAssignment(int size) {
    long big = size;
    int pairs = size(big * big, "rows");
    int m = size(big * big + big * big * (big - 1) * (big - 1) / 2, "rows");
    int n = size(2 * big + 2 * big * big * (big - 1), "columns");
    int entries = size(2 * big * big * big * big - 2 * big * big * big + 2 * big * big, "entries");
    int family = pairs * (size - 1);
    int first = 2 * size;
    int second = first + family;
    int[] start = new int[m + 1];
    int[] index = new int[entries];
    double[] value = new double[entries];
    int at = 0;
    int row = 0;
    for (int ij = 0; ij < pairs; ij++) {
      index[at] = ij / size;
      value[at++] = 1;
      index[at] = size + ij % size;
      value[at++] = 1;
      for (int base = first; base <= second; base += family) {
        for (int t = 0; t < size - 1; t++) {
          index[at] = base + ij * (size - 1) + t;
          value[at++] = -1;
        }
      }
      start[++row] = at;
    }
    for (int ij = 0; ij < pairs; ij++) {
      int i = ij / size;
      int j = ij % size;
      for (int kl = (i + 1) * size; kl < pairs; kl++) {
        int k = kl / size;
        int l = kl % size;
        if (l == j) {
          continue;
        }
        // Two of the four constraints belong to (i, j), two to (k, l), which comes later.
        index[at] = first + ij * (size - 1) + k - 1;
        index[at + 1] = first + kl * (size - 1) + i;
        index[at + 2] = second + ij * (size - 1) + (l > j ? l - 1 : l);
        index[at + 3] = second + kl * (size - 1) + (j > l ? j - 1 : j);
        Arrays.fill(value, at, at + 4, 1);
        at += 4;
        start[++row] = at;
      }
    }
    return new CsrMatrix(m, n, start, index, value);
  }

  /** The count as an int; throws if it does not fit. */
  static int size(long count, String what) {
    if (count < 0 || count > Integer.MAX_VALUE - 16) {
      throw new IndexOverflowException(
          count + " " + what + " do not fit one JVM's arrays", what, count);
    }
    return (int) count;
  }
}
