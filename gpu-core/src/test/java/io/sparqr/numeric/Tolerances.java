/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import io.sparqr.sparse.CsrMatrix;

/** The one place where tests get their tolerances from: c eps max(m, n) ||A||. */
public final class Tolerances {

  /** Unit of rounding, 2^-52. */
  public static final double EPS = Math.ulp(1.0);

  private static final double C = 20;

  private Tolerances() {}

  /** For quantities of A's own size, such as R or b. */
  public static double of(int m, int n, double norm) {
    return C * EPS * Math.max(Math.max(m, n), 4) * norm;
  }

  /** For products such as A'A or A'r. */
  public static double ofProduct(int m, int n, double normA, double normB) {
    return of(m, n, normA) * normB;
  }

  /** ||A||_F without overflow. */
  public static double frobenius(CsrMatrix a) {
    return norm(a.values(), a.nonzeros());
  }

  /** 2-norm of the first {@code length} values, without overflow. */
  public static double norm(double[] x, int length) {
    double max = 0;
    for (int i = 0; i < length; i++) {
      max = Math.max(max, Math.abs(x[i]));
    }
    if (max == 0) {
      return 0;
    }
    double sum = 0;
    for (int i = 0; i < length; i++) {
      sum += x[i] / max * (x[i] / max);
    }
    return max * Math.sqrt(sum);
  }

  /** 2-norm of a vector. */
  public static double norm(double[] x) {
    return norm(x, x.length);
  }
}
