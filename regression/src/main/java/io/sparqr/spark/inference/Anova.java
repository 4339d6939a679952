/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.inference;

import java.io.Serializable;

/**
 * A comparison of two nested fits, as by R's {@code anova(m1, m2)}: whether the residual of the
 * larger model is smaller by more than its additional columns would explain by chance.
 *
 * @param smallerFreedom residual degrees of freedom of the smaller model
 * @param largerFreedom residual degrees of freedom of the larger model
 * @param smallerResidual ||sqrt(W)(b - Ax)||^2 of the smaller model
 * @param largerResidual ||sqrt(W)(b - Ax)||^2 of the larger model
 * @param f ((smallerResidual - largerResidual) / (smallerFreedom - largerFreedom)) /
 *     (largerResidual / largerFreedom)
 * @param pValue P(F > f)
 */
public record Anova(
    long smallerFreedom,
    long largerFreedom,
    double smallerResidual,
    double largerResidual,
    double f,
    double pValue)
    implements Serializable {

  /** Residuals with a smaller relative difference are equal up to rounding. */
  private static final double ROUNDING = 1e-12;

  /**
   * Compares the fits.
   *
   * @param smaller the model whose columns span a subspace of the larger model's column space; this
   *     cannot be seen from R, and is up to the caller
   * @throws IllegalArgumentException if the fits differ in their rows, weights, labels or
   *     partitions, if the ranks are not in this order, or if the smaller model has the smaller
   *     residual, so that it is not nested in the other
   */
  public static Anova of(Inference smaller, Inference larger) {
    smaller.requireSameObservations(larger);
    if (smaller.rank() >= larger.rank()) {
      throw new IllegalArgumentException(
          "anova of a model of rank %,d in one of rank %,d: the larger model comes second"
              .formatted(smaller.rank(), larger.rank()));
    }
    double a = smaller.residualNorm();
    double b = larger.residualNorm();
    if (a < b * (1 - ROUNDING)) {
      throw new IllegalArgumentException(
          "the model of rank %,d leaves %s, that of rank %,d %s: it is not nested in it"
              .formatted(smaller.rank(), a, larger.rank(), b));
    }
    long q = larger.rank() - smaller.rank();
    long freedom = larger.degreesOfFreedom();
    // (a - b)(a + b): a^2 - b^2 with less cancellation.
    double f = Math.max(0, a - b) / b * ((a + b) / b) / q * freedom;
    return new Anova(
        smaller.degreesOfFreedom(), freedom, a * a, b * b, f, Distributions.upperF(f, q, freedom));
  }
}
