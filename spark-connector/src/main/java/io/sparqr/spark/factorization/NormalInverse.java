/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factorization;

import io.sparqr.numeric.SingletonRows;
import io.sparqr.spark.dependence.MovedErrors;
import io.sparqr.spark.engine.JobScope;
import io.sparqr.spark.model.HalfSolve;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.solve.LevelSolve;
import io.sparqr.spark.solve.Support;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;

/**
 * Products with (A'A)^-1 and its root R^-T for a few sparse vectors at a time, in the caller's
 * columns and units. Takes n values per vector on the driver.
 *
 * <p>A vector u is estimable if it is orthogonal to the null space of A. Let t be the coefficients
 * of a dependent column d as a combination of the live ones. Its column of R is R1d = R1 t, so the
 * residual of R'w = u at d, u_d - R1d'w, is, up to sign, the product of u with the null vector (t,
 * -1): the forward solve yields it. The rank test declares d dead within its tolerance of the span
 * of the others, which changes that product by up to the tolerance times ||w||. A product of at
 * most this, or of the size of rounding errors, counts as 0.
 *
 * @param dead original indices
 */
record NormalInverse(SolvePlan plan, SingletonRows singletons, LevelSolve levels, int[] dead) {

  /** Relative rounding error allowed in a product with a null vector. */
  private static final double ROUNDING = 256 * Math.ulp(1.0);

  /** Maximum number of vectors in a batch, of which R is read once. */
  private static final int BATCH = 1024;

  /** Maximum number of values in a batch, 64 MB. */
  private static final long BATCH_VALUES = 8 << 20;

  /** Solves with dense vectors of equilibrated columns. */
  MovedErrors.Normal solves(JobScope scope) {
    return new NormalSolves(plan, levels, singletons, scope);
  }

  /** R^-T u for each u. */
  HalfSolve half(List<SparseRow> vectors, JobScope scope) {
    int width = vectors.size();
    double[] c = scaled(vectors);
    if (width > 0) {
      forward(c, width, scope);
    }
    boolean[] estimable = new boolean[width];
    Arrays.fill(estimable, true);
    double[] rest = new double[Math.multiplyExact(dead.length, width)];
    for (int d = 0; d < dead.length; d++) {
      int at = plan.position(dead[d]) * width;
      System.arraycopy(c, at, rest, d * width, width);
      Arrays.fill(c, at, at + width, 0);
    }
    var half = new HalfSolve(width, c, estimable);
    for (int k = 0; k < width && dead.length > 0; k++) {
      estimable[k] = isEstimable(vectors.get(k), rest, k, half);
    }
    return half;
  }

  private boolean isEstimable(SparseRow u, double[] rest, int k, HalfSolve half) {
    double[] own = new double[dead.length];
    for (int e = 0; e < u.indices().length; e++) {
      int d = Arrays.binarySearch(dead, u.indices()[e]);
      if (d >= 0) {
        own[d] = plan.scaled(dead[d], Math.abs(u.values()[e]));
      }
    }
    double norm = half.norm(k) * Math.max(ROUNDING, plan.numbers().tolerance());
    for (int d = 0; d < dead.length; d++) {
      if (!(Math.abs(rest[d * half.width() + k]) <= norm + ROUNDING * own[d])) {
        return false;
      }
    }
    return true;
  }

  /** (A'A)^-1 u for each u: size n each, by original column, 0 where dead. */
  double[][] times(List<SparseRow> vectors, JobScope scope) {
    int width = vectors.size();
    if (width == 0) {
      return new double[0][];
    }
    double[] c = scaled(vectors);
    forward(c, width, scope);
    for (int d : dead) {
      int at = plan.position(d) * width;
      Arrays.fill(c, at, at + width, 0);
    }
    levels.back(c, width, scope);
    singletons.backSubstitute(c, c, width);
    double[][] z = new double[width][];
    for (int k = 0; k < width; k++) {
      z[k] = plan.inCallersUnits(c, k, width);
    }
    return z;
  }

  /**
   * (A'A)^-1 u at some columns: on the fronts that have those or the vectors' as pivots and all
   * above them, where nothing else decides. Batch by batch.
   *
   * @param columns original indices
   * @return by vector, a value for each column
   */
  double[][] times(List<SparseRow> vectors, int[] columns, JobScope scope) {
    int[] both =
        IntStream.concat(
                vectors.stream().flatMapToInt(u -> Arrays.stream(u.indices())),
                Arrays.stream(columns))
            .toArray();
    Support support = Support.of(plan, both);
    LevelSolve on = levels.on(support);
    int batch = (int) Math.max(1, Math.min(BATCH, BATCH_VALUES / Math.max(1, support.size())));
    double[][] all = new double[vectors.size()][];
    for (int from = 0; from < all.length; from += batch) {
      List<SparseRow> some = vectors.subList(from, Math.min(all.length, from + batch));
      int width = some.size();
      double[] c = new double[support.size() * width];
      for (int k = 0; k < width; k++) {
        add(some.get(k), support::index, c, k, width);
      }
      double[] z = on.normal(c, width, scope);
      for (int k = 0; k < width; k++) {
        all[from + k] = new double[columns.length];
      }
      for (int e = 0; e < columns.length; e++) {
        int at = support.index(plan.position(columns[e])) * width;
        for (int k = 0; k < width; k++) {
          all[from + k][e] = plan.scaled(columns[e], z[at + k]);
        }
      }
    }
    return all;
  }

  /** Whether vectors need no front but those of their columns and above. */
  boolean isSelective() {
    return levels.isSelective() && plan.analysis().singletons() == 0;
  }

  private void forward(double[] c, int width, JobScope scope) {
    singletons.forwardSubstitute(c, c, width);
    levels.forward(c, width, true, scope);
  }

  private double[] scaled(List<SparseRow> vectors) {
    int width = vectors.size();
    double[] c = plan.vector(width);
    for (int k = 0; k < width; k++) {
      add(vectors.get(k), p -> p, c, k, width);
    }
    return c;
  }

  private void add(SparseRow u, IntUnaryOperator index, double[] c, int k, int width) {
    for (int e = 0; e < u.indices().length; e++) {
      int j = java.util.Objects.checkIndex(u.indices()[e], plan.analysis().columns());
      c[index.applyAsInt(plan.position(j)) * width + k] += plan.scaled(j, u.values()[e]);
    }
  }
}
