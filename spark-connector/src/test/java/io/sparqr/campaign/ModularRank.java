/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign;

import io.sparqr.sparse.CsrMatrix;
import java.math.BigInteger;
import java.util.Random;

/**
 * The exact rank of a matrix of doubles: elimination modulo a random prime of 50 bits, in which 2
 * has an inverse, so that every double has a residue. A rank modulo a prime is never too large; it
 * is too small only if the prime divides the minors, with a probability of about 1e-13 here, which
 * a second prime rules out for the few that matter. O(m n rank).
 */
final class ModularRank {

  private static final int BITS = 50;

  private final long p;
  private final double inverse;

  /** 2^e modulo p for e from the least exponent on. */
  private final long[] power = new long[2 * 1075];

  private ModularRank(long p) {
    this.p = p;
    this.inverse = 1.0 / p;
    BigInteger prime = BigInteger.valueOf(p);
    long two = BigInteger.TWO.modPow(BigInteger.valueOf(-1075), prime).longValueExact();
    for (int e = 0; e < power.length; e++) {
      power[e] = two;
      two = two << 1 >= p ? (two << 1) - p : two << 1;
    }
  }

  /** For a prime drawn by this seed. */
  static ModularRank ofSeed(long seed) {
    return new ModularRank(BigInteger.probablePrime(BITS, new Random(seed)).longValueExact());
  }

  /** Rank of A. */
  int rank(CsrMatrix a) {
    long[][] rows = new long[a.rows()][a.columns()];
    for (int i = 0; i < a.rows(); i++) {
      for (int k = a.rowStart()[i]; k < a.rowStart()[i + 1]; k++) {
        rows[i][a.columnIndex()[k]] = residue(a.values()[k]);
      }
    }
    return eliminate(rows, a.columns()).length;
  }

  /** The columns of A that do not depend on those before them; their number is the rank. */
  int[] independentColumns(CsrMatrix a) {
    long[][] rows = new long[a.rows()][a.columns()];
    for (int i = 0; i < a.rows(); i++) {
      for (int k = a.rowStart()[i]; k < a.rowStart()[i + 1]; k++) {
        rows[i][a.columnIndex()[k]] = residue(a.values()[k]);
      }
    }
    return eliminate(rows, a.columns());
  }

  private int[] eliminate(long[][] rows, int n) {
    int[] pivots = new int[Math.min(rows.length, n)];
    int rank = 0;
    for (int j = 0; j < n && rank < rows.length; j++) {
      int at = rank;
      while (at < rows.length && rows[at][j] == 0) {
        at++;
      }
      if (at == rows.length) {
        continue;
      }
      long[] pivot = rows[at];
      rows[at] = rows[rank];
      rows[rank] = pivot;
      long over = inverse(pivot[j]);
      for (int i = rank + 1; i < rows.length; i++) {
        long[] row = rows[i];
        if (row[j] != 0) {
          subtract(row, times(row[j], over), pivot, j);
        }
      }
      pivots[rank++] = j;
    }
    return java.util.Arrays.copyOf(pivots, rank);
  }

  private void subtract(long[] row, long factor, long[] pivot, int from) {
    for (int k = from; k < row.length; k++) {
      if (pivot[k] != 0) {
        long d = row[k] - times(factor, pivot[k]);
        row[k] = d < 0 ? d + p : d;
      }
    }
  }

  /** a b modulo p: the quotient by doubles is off by one at most. */
  private long times(long a, long b) {
    long quotient = (long) ((double) a * b * inverse);
    long rest = a * b - quotient * p;
    if (rest < 0) {
      return rest + p;
    }
    return rest >= p ? rest - p : rest;
  }

  private long inverse(long a) {
    return BigInteger.valueOf(a).modInverse(BigInteger.valueOf(p)).longValueExact();
  }

  private long residue(double x) {
    if (x == 0) {
      return 0;
    }
    long m = ExactSum.mantissa(x) % p;
    long r = times(m, power[ExactSum.exponent(x) + 1075]);
    return x < 0 && r != 0 ? p - r : r;
  }
}
