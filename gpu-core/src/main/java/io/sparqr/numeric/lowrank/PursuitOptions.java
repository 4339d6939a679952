/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.lowrank;

import java.util.Objects;
import java.util.OptionalDouble;

/**
 * What a pursuit is asked for.
 *
 * @param method the way
 * @param lambda the weight of the sparse part, above 0; empty: 1 / sqrt(max(m, n)), for which
 *     Candes and others prove exact recovery
 * @param tolerance of ||M - L - S||_F relative to ||M||_F, above 0 and below 1
 * @param maxIterations at least 1
 */
public record PursuitOptions(
    PursuitMethod method, OptionalDouble lambda, double tolerance, int maxIterations) {

  /** Inexact augmented Lagrangians to 1e-7, at most 1000 iterations. */
  public static final PursuitOptions DEFAULTS =
      new PursuitOptions(PursuitMethod.INEXACT_ALM, OptionalDouble.empty(), 1e-7, 1000);

  /**
   * Checks the numbers.
   *
   * @throws IllegalArgumentException if one is out of its range
   */
  public PursuitOptions {
    Objects.requireNonNull(method, "method");
    double weight = lambda.orElse(1);
    if (!(weight > 0 && weight < Double.POSITIVE_INFINITY)) {
      throw new IllegalArgumentException("lambda " + weight + ": a finite number above 0");
    }
    if (!(tolerance > 0 && tolerance < 1)) {
      throw new IllegalArgumentException("tolerance " + tolerance + ": between 0 and 1");
    }
    if (maxIterations < 1) {
      throw new IllegalArgumentException("at most " + maxIterations + " iterations: at least 1");
    }
  }

  /** With another method. */
  public PursuitOptions withMethod(PursuitMethod wanted) {
    return new PursuitOptions(wanted, lambda, tolerance, maxIterations);
  }

  /** With this weight of the sparse part. */
  public PursuitOptions withLambda(double weight) {
    return new PursuitOptions(method, OptionalDouble.of(weight), tolerance, maxIterations);
  }

  /** With another tolerance. */
  public PursuitOptions withTolerance(double wanted) {
    return new PursuitOptions(method, lambda, wanted, maxIterations);
  }

  /** With at most this many iterations. */
  public PursuitOptions withMaxIterations(int most) {
    return new PursuitOptions(method, lambda, tolerance, most);
  }
}
