/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

/**
 * A right-hand side w of pseudo-random values, solved with R beside Q'b whenever R is read for x:
 * ||R^-1 w|| tells how small the smallest singular value of R can be. With w random in every
 * direction, ||R^-1 w|| is below a hundredth of 1 / sigma_min with a probability of 1% (Dixon 1983,
 * SIAM J. Numer. Anal. 20; Kenney and Laub 1994, SIAM J. Sci. Comput. 15). Values have different
 * magnitudes, because signs alone cancel in vectors of a few equal entries. {@code triangular.cuh}
 * has them too.
 */
public final class Probe {

  /** Probes in a solve with the stored right-hand sides, which they follow. */
  public static final int COUNT = 1;

  private Probe() {}

  /** The value for a pivot, by its number among the columns of the solve: +-[0.5, 1.5). */
  public static double value(int number) {
    long h = (number + 1L) * 0x9E3779B97F4A7C15L;
    h = (h ^ (h >>> 32)) * 0xD6E8FEB86659FD93L;
    h ^= h >>> 32;
    double magnitude = 0.5 + (h >>> 11) * 0x1p-53;
    return (h & 1) == 0 ? magnitude : -magnitude;
  }
}
