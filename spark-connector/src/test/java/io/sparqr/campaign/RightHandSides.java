/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign;

import io.sparqr.sparse.CsrMatrix;
import java.util.Arrays;
import java.util.Random;

/** Right-hand sides in the range of A, near it, and anywhere; sometimes several, or 0. */
final class RightHandSides {

  private RightHandSides() {}

  static double[][] draw(CsrMatrix a, Random random) {
    int count = random.nextInt(4) == 0 ? 2 + random.nextInt(2) : 1;
    double[][] b = new double[count][];
    for (int k = 0; k < count; k++) {
      b[k] = one(a, random);
    }
    return b;
  }

  /** A right-hand side with finite entries, of about the size of A's. */
  private static double[] one(CsrMatrix a, Random random) {
    int kind = random.nextInt(12);
    if (kind == 0) {
      return new double[a.rows()];
    }
    double[] b = new double[a.rows()];
    if (kind <= 3) {
      Arrays.setAll(b, i -> random.nextBoolean() ? 1 : -1);
      return b;
    }
    if (kind <= 6) {
      Arrays.setAll(b, i -> random.nextGaussian());
      return b;
    }
    double[] x = new double[a.columns()];
    Arrays.setAll(x, j -> random.nextInt(19) - 9);
    double[] inRange = a.multiply(x);
    double noise = kind <= 8 ? 0 : Math.pow(10, -random.nextInt(14));
    double size = Arrays.stream(inRange).map(Math::abs).max().orElse(0);
    if (!Double.isFinite(size)) {
      Arrays.setAll(b, i -> random.nextGaussian());
      return b;
    }
    Arrays.setAll(b, i -> inRange[i] + (noise == 0 ? 0 : noise * size * random.nextGaussian()));
    return b;
  }
}
