/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.condition;

import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.solve.NormSum;
import io.sparqr.spark.solve.ResidualPass;
import java.io.Serializable;

/**
 * How small a change of A and b makes x a solution of the least-squares problem: the smaller of two
 * bounds that are attained, for columns of norm 1, relative to ||A||_F and ||b||,
 *
 * <pre>
 *   ||A'r|| / (||A||_F ||r||)                       E = -r r'A / ||r||^2 (Stewart 1977)
 *   ||P r|| / (||A||_F ||x|| + ||b||)               P r = A (R'R)^-1 A'r, ||P r|| = ||R^-T A'r||
 * </pre>
 *
 * (Higham 2002, Accuracy and Stability of Numerical Algorithms, section 20.7). The second is small
 * where r itself is nothing but rounding errors. The componentwise error is max over the columns of
 * |a_j'r| / |a_j|'(|b| + |A| |x|): how well each normal equation is satisfied beside the size of
 * its terms.
 *
 * @param normalResidual max over the right-hand sides of ||A'r|| / (||A||_F ||r||), for A's own
 *     columns
 * @param normwise max over the right-hand sides
 * @param componentwise max over the right-hand sides and columns
 * @param columns n
 */
public record BackwardError(
    double normalResidual, double normwise, double componentwise, int columns)
    implements Serializable {

  /** The backward error of a solution that is as good as rounding allows, in eps, for small n. */
  private static final double ALLOWED = 100;

  /** From here on x solves another problem. */
  private static final double NO_SOLUTION = Math.sqrt(Math.ulp(1.0));

  /**
   * Measures it in two passes over the rows.
   *
   * @param r with the columns' sizes
   */
  public static BackwardError of(
      ResidualPass pass, double[][] x, SolvePlan plan, ColumnSizes sizes, ScaledFactor r) {
    ResidualPass.Sums sums = pass.measure(x);
    double[] gradient = sums.gradient().clone();
    double[] size = pass.sizes(x);
    int width = sums.width();
    int n = plan.analysis().columns();
    double componentwise = 0;
    for (int i = 0; i < gradient.length; i++) {
      if (gradient[i] != 0) {
        componentwise = Math.max(componentwise, Math.abs(gradient[i]) / size[i]);
      }
    }
    double[] g = new double[gradient.length];
    double[] whole = normsByPosition(gradient, g, width, plan, sizes);
    double[] projected = g.clone();
    r.inverseTransposed(projected, width);
    double frobenius = Math.sqrt(n);
    var trust = new TailTrust(plan, sizes);
    double worst = 0;
    double normal = 0;
    for (int k = 0; k < width; k++) {
      double residual = sums.residual()[k];
      if (residual == 0 || whole[k] == 0) {
        continue;
      }
      normal =
          Math.max(normal, inCallersUnits(gradient, k, width, residual, plan) / sums.frobenius());
      double one = whole[k] / (frobenius * residual);
      double of = frobenius * trust.size(x[k]) + sums.rhs()[k];
      double two = norm(projected, k, width) / of;
      worst = Math.max(worst, Math.min(one, two));
    }
    return new BackwardError(normal, worst, componentwise, n);
  }

  /** The gradient by position, for columns of norm 1, and its norms. */
  private static double[] normsByPosition(
      double[] gradient, double[] g, int width, SolvePlan plan, ColumnSizes sizes) {
    plan.scaleGradient(gradient, g, width);
    sizes.unscale(plan, g, width);
    double[] norm = new double[width];
    for (int k = 0; k < width; k++) {
      norm[k] = norm(g, k, width);
    }
    return norm;
  }

  /** ||A'r|| / ||r|| for the caller's columns, divided first where A'r could be out of range. */
  private static double inCallersUnits(
      double[] gradient, int k, int width, double residual, SolvePlan plan) {
    var sum = new NormSum();
    for (int j = 0; j < gradient.length / width; j++) {
      sum.add(plan.gradient(j, gradient[j * width + k] / residual));
    }
    return sum.norm();
  }

  private static double norm(double[] v, int k, int width) {
    var sum = new NormSum();
    for (int at = k; at < v.length; at += width) {
      sum.add(v[at]);
    }
    return sum.norm();
  }

  /** The verdict in words. */
  public String verdict() {
    double allowed = Math.max(ALLOWED, 10 * Math.sqrt(columns)) * Math.ulp(1.0);
    if (normwise <= allowed) {
      return "as small as rounding allows";
    }
    return normwise < NO_SOLUTION
        ? "larger than rounding explains: some digits are missing"
        : "not a solution";
  }
}
