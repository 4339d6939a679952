/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.integrity;

import java.util.Arrays;
import java.util.BitSet;

/**
 * The multipliers of columns before summation. Column j's entries count as w_ij = a_ij s_j, where
 * s_j = +-h 2^-e with h in [1/2, 1) and the sign from a hash of the column's position, and 2^-e the
 * power of two for which |s_j| ||a_j|| is in [1/4, 1): all columns weigh the same in any units, and
 * no square overflows. The probe of row i is t_i = sum of w_ij over the columns that are in it.
 * Right-hand sides c_q, scaled alike, make it t_i + g_i, where g_i = {@link #right} times the sum
 * of c_iq. Each column has the sums of w_ij^2 and of w_ij (t_i + g_i), each right-hand side those
 * of c_iq^2 and of c_iq t_i: so every product of two columns is in some sum, those of two
 * right-hand sides excepted, of which the rows that a task returns do not have all.
 *
 * <p>Columns of a norm below 2^{@value #LEAST_EXPONENT} are scaled as if they had this norm: near
 * the denormals rounding is absolute.
 *
 * @param columns number of columns; right-hand sides follow them
 * @param scale size columns + right-hand sides: s_j
 * @param u size columns at least: s_j for the columns that are in the probe, else 0 or a small part
 *     of it
 * @param plain whether the columns may be summed before scaling: no squared norm is near the limits
 *     of a double
 */
public record ColumnProbe(int columns, double[] scale, double[] u, boolean plain) {

  private static final int LEAST_EXPONENT = -960;
  private static final int LARGEST_EXPONENT = 1020;

  private static final int RIGHT_SIGMAS = 4;

  /** Multipliers from 2^-400 to 2^400 are plain. */
  private static final double PLAIN = 0x1p400;

  /** Right-hand sides. */
  public int rhs() {
    return scale.length - columns;
  }

  /** The weight of this probe's right-hand sides in g. */
  public double right() {
    return right(rhs());
  }

  /**
   * The weight of a number of right-hand sides in g: a power of two, 1 for a single one, its square
   * at most 1 / rhs, so that many right-hand sides are together no larger than a column.
   */
  public static double right(int rhs) {
    int bits = 32 - Integer.numberOfLeadingZeros(Math.max(0, rhs - 1));
    return Math.scalb(1.0, -(bits + 1) / 2);
  }

  /**
   * ||g||^2 at most, for right-hand sides of norms below 1. Any signs for up to {@value
   * #RIGHT_SIGMAS}^2 of them; of more, the sum is at most {@value #RIGHT_SIGMAS} times the root of
   * the sum of squares, as their signs are random.
   */
  public static double rightSquares(int rhs) {
    return Math.min(rhs, RIGHT_SIGMAS * RIGHT_SIGMAS);
  }

  /**
   * A number above the sum of |w_i (t_i + g_i)| over the rows, for any column: columns + sqrt(rhs).
   */
  public static int mostProbe(int columns, int rhs) {
    return columns + (int) Math.ceil(Math.sqrt(rhs));
  }

  /**
   * The multiplier of a column.
   *
   * @param position of the column in the analysis; right-hand side q: -1 - q
   * @param norm of the column; may be 0
   */
  static double scale(int position, double norm) {
    int e = Math.max(LEAST_EXPONENT, Math.min(Math.getExponent(norm), LARGEST_EXPONENT));
    return Math.scalb(hash(position), -1 - e);
  }

  /** A fixed number of magnitude [1/2, 1) for a position (the mixer of SplitMix64). */
  static double hash(int position) {
    long z = (position + 1L) * 0x9E3779B97F4A7C15L;
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    z ^= z >>> 31;
    double h = 0.5 + (z >>> 11) * 0x1p-54;
    // Negates odd ones without an unpredictable branch.
    return Double.longBitsToDouble(Double.doubleToRawLongBits(h) ^ z << 63);
  }

  /** With all columns in the probe. */
  public static ColumnProbe ofAll(int columns, double[] scale) {
    return of(columns, scale, new BitSet());
  }

  /** With all columns except some in the probe. */
  static ColumnProbe of(int columns, double[] scale, BitSet without) {
    boolean plain = true;
    for (int j = 0; j < columns; j++) {
      double s = Math.abs(scale[j]);
      plain &= s >= 1 / PLAIN && s <= PLAIN;
    }
    double[] u = scale;
    if (!without.isEmpty()) {
      u = Arrays.copyOf(scale, columns);
      for (int j = without.nextSetBit(0); j >= 0; j = without.nextSetBit(j + 1)) {
        u[j] = 0;
      }
    }
    return new ColumnProbe(columns, scale, u, plain);
  }
}
