/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.plan;

import java.util.Arrays;
import java.util.Optional;

/**
 * The penalty sum_j lambda_j x_j^2: one lambda for all columns, or one per column. If any is
 * positive, every column has a ridge row sqrt(lambda_j) e_j, even if its lambda is 0, so that the
 * pattern does not depend on the values. Immutable.
 */
public final class Ridge {

  /** No penalty and no ridge rows. */
  public static final Ridge NONE = new Ridge(new double[] {0}, true);

  /** One lambda for all columns, or one for each. */
  private final double[] lambda;

  private final boolean uniform;
  private final boolean any;

  private Ridge(double[] lambda, boolean uniform) {
    this.lambda = lambda;
    this.uniform = uniform;
    boolean positive = false;
    for (double l : lambda) {
      positive |= l > 0;
    }
    this.any = positive;
  }

  /**
   * One lambda for all columns.
   *
   * @throws IllegalArgumentException if it is negative, infinite or NaN
   */
  public static Ridge of(double lambda) {
    SolveOption.RIDGE.require(lambda);
    return lambda == 0 ? NONE : new Ridge(new double[] {lambda}, true);
  }

  /**
   * One lambda per column.
   *
   * @param lambda size n; copied
   * @throws IllegalArgumentException if one is negative, infinite or NaN
   */
  public static Ridge of(double[] lambda) {
    for (int j = 0; j < lambda.length; j++) {
      Optional<String> wrong =
          SolveOption.RIDGE.complaint("ridge of column " + j, " = ", lambda[j]);
      if (wrong.isPresent()) {
        throw new IllegalArgumentException(wrong.get());
      }
    }
    return new Ridge(lambda.clone(), false);
  }

  /**
   * This penalty times a factor; {@link #NONE} gives the factor itself as the lambda of all
   * columns.
   */
  public Ridge times(double factor) {
    if (!any) {
      return of(factor);
    }
    double[] product = new double[lambda.length];
    for (int j = 0; j < product.length; j++) {
      product[j] = factor * lambda[j];
    }
    return uniform ? of(product[0]) : of(product);
  }

  /** Whether any column is penalized. */
  public boolean any() {
    return any;
  }

  /** Lambda of a column. */
  public double of(int column) {
    return uniform ? lambda[0] : lambda[column];
  }

  /** Number of ridge rows for n columns. */
  public int rows(int n) {
    return any ? n : 0;
  }

  /**
   * Checks that the number of lambdas fits the number of columns.
   *
   * @throws IllegalArgumentException if they differ
   */
  public void requireColumns(int n) {
    if (!uniform && lambda.length != n) {
      throw new IllegalArgumentException(
          "%d lambdas of a ridge for %d columns".formatted(lambda.length, n));
    }
  }

  /** Norm of the ridge rows of n columns: sqrt(sum_j lambda_j). */
  public double frobenius(int n) {
    return uniform ? Math.sqrt(lambda[0] * n) : Math.sqrt(Arrays.stream(lambda).sum());
  }

  /** Norm of the ridge rows times x: sqrt(sum_j lambda_j x_j^2). */
  public double norm(double[] x) {
    double norm = 0;
    for (int j = 0; j < x.length && any; j++) {
      norm = Math.hypot(norm, uniform ? x[j] : Math.sqrt(lambda[j]) * x[j]);
    }
    return uniform ? norm * Math.sqrt(lambda[0]) : norm;
  }

  /** Size 1 or n; must not be modified. */
  double[] lambdas() {
    return lambda;
  }

  /** The inverse of {@link #lambdas()}, for a problem with n columns. */
  static Ridge read(double[] lambda, boolean uniform) {
    return uniform ? of(lambda[0]) : of(lambda);
  }

  /** Whether there is one lambda for all columns. */
  public boolean uniform() {
    return uniform;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Ridge r && uniform == r.uniform && Arrays.equals(lambda, r.lambda);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(lambda);
  }

  @Override
  public String toString() {
    return uniform ? Double.toString(lambda[0]) : lambda.length + " lambdas, one a column";
  }
}
