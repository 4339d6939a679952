/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign;

import io.sparqr.sparse.CsrMatrix;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.Optional;

/**
 * The least ||b - A x|| of all rational x: the square is det [C b]'[C b] / det C'C for independent
 * columns C, by elimination without fractions (Bareiss 1968, Math. Comp. 22, 565-578). The numbers
 * grow to n times the bits of an entry of C'C, so this is for small matrices of short numbers.
 */
final class ExactLeastSquares {

  /** Products of 64-bit digits that a case may take: about 10 ms. */
  private static final double MOST_WORK = 4e6;

  private ExactLeastSquares() {}

  /**
   * The least norm.
   *
   * @param columns independent columns that span the range of A
   * @return empty if that took too long
   */
  static Optional<Scaled> norm(CsrMatrix a, int[] columns, double[] b) {
    int r = columns.length;
    double[][] v = new double[r + 1][a.rows()];
    int[] place = new int[a.columns()];
    Arrays.fill(place, -1);
    for (int c = 0; c < r; c++) {
      place[columns[c]] = c;
    }
    for (int i = 0; i < a.rows(); i++) {
      for (int k = a.rowStart()[i]; k < a.rowStart()[i + 1]; k++) {
        if (place[a.columnIndex()[k]] >= 0) {
          v[place[a.columnIndex()[k]]][i] = a.values()[k];
        }
      }
    }
    v[r] = b.clone();
    var x = new BigInteger[r + 1][];
    int bits = 0;
    int unit = 0;
    for (int c = 0; c <= r; c++) {
      unit =
          Arrays.stream(v[c]).filter(e -> e != 0).mapToInt(ExactLeastSquares::last).min().orElse(0);
      int shift = unit;
      x[c] = Arrays.stream(v[c]).mapToObj(e -> integer(e, shift)).toArray(BigInteger[]::new);
      bits = Math.max(bits, Arrays.stream(x[c]).mapToInt(BigInteger::bitLength).max().orElse(0));
    }
    double digits = Math.max(1, r * (2.0 * bits) / 64);
    if (r * (double) r * r / 3 * digits * digits > MOST_WORK) {
      return Optional.empty();
    }
    return Optional.of(ratio(gram(x), r, unit));
  }

  private static BigInteger[][] gram(BigInteger[][] x) {
    var g = new BigInteger[x.length][x.length];
    for (int c = 0; c < x.length; c++) {
      for (int d = 0; d <= c; d++) {
        BigInteger sum = BigInteger.ZERO;
        for (int i = 0; i < x[c].length; i++) {
          if (x[c][i].signum() != 0 && x[d][i].signum() != 0) {
            sum = sum.add(x[c][i].multiply(x[d][i]));
          }
        }
        g[c][d] = sum;
        g[d][c] = sum;
      }
    }
    return g;
  }

  /** sqrt(det G / det of its first r rows and columns) 2^unit, unit that of b. */
  private static Scaled ratio(BigInteger[][] g, int r, int unit) {
    BigInteger before = BigInteger.ONE;
    for (int k = 0; k < r; k++) {
      for (int i = k + 1; i <= r; i++) {
        for (int j = k + 1; j <= r; j++) {
          g[i][j] = g[i][j].multiply(g[k][k]).subtract(g[i][k].multiply(g[k][j])).divide(before);
        }
      }
      before = g[k][k];
    }
    Scaled square = scaled(g[r][r]).times(1 / scaled(before).mantissa());
    int e = square.exponent() - scaled(before).exponent();
    // an even exponent for the root
    return square.mantissa() == 0
        ? Scaled.ZERO
        : Scaled.of(
            Math.sqrt(Math.scalb(square.mantissa(), Math.floorMod(e, 2))),
            Math.floorDiv(e, 2) + unit);
  }

  private static Scaled scaled(BigInteger x) {
    int shift = Math.max(0, x.bitLength() - 64);
    return Scaled.of(x.shiftRight(shift).doubleValue(), shift);
  }

  private static BigInteger integer(double x, int unit) {
    if (x == 0) {
      return BigInteger.ZERO;
    }
    var m = BigInteger.valueOf(ExactSum.mantissa(x)).shiftLeft(ExactSum.exponent(x) - unit);
    // last() leaves trailing zeros out, so that the shift may be to the right, without loss
    return x < 0 ? m.negate() : m;
  }

  /** The exponent of the last bit that is set. */
  private static int last(double x) {
    return ExactSum.exponent(x) + Long.numberOfTrailingZeros(ExactSum.mantissa(x));
  }
}
