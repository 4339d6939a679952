/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.ml;

import io.sparqr.spark.QRFactorization;
import io.sparqr.spark.design.level.AbsorbedFactor;
import io.sparqr.spark.inference.ClusterCorrection;
import io.sparqr.spark.inference.HcType;
import io.sparqr.spark.inference.Inference;
import io.sparqr.spark.inference.RobustCovariance;
import io.sparqr.spark.inference.WaldTest;
import io.sparqr.spark.model.SparseRow;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaRDD;
import org.jspecify.annotations.Nullable;

/**
 * Standard errors of a fit, and their assumptions.
 *
 * @param values one per column of the design, NaN if it is dependent or absorbed
 * @param freedom degrees of freedom of t
 * @param assumed the assumption as printed under a table; empty for errors of equal variances
 * @param covariance of the columns that are not absorbed, unless they are more than one batch
 * @param within the part of the squared errors, as left by the absorbed effects alone, that those
 *     columns explain; NaN if they are more than one batch
 * @param wald the joint test of all coefficients but the intercept, by these errors, if it can be
 *     computed; not for errors of equal variances, whose F comes from the sums of squares
 * @param warnings about these errors
 */
record CoefficientErrors(
    double[] values,
    double freedom,
    String assumed,
    double @Nullable [][] covariance,
    double within,
    @Nullable WaldTest wald,
    List<String> warnings) {

  /**
   * Rejects contradictory params before anything is computed.
   *
   * @throws IllegalArgumentException naming the contradiction
   */
  static void check(SparseQRRegressionParams params) {
    String vcov = params.getVcov();
    int clusters = params.getClusterCols().length;
    if (vcov.equals(VcovNames.CLUSTER) != (clusters > 0) || clusters > 2) {
      throw new IllegalArgumentException(
          clusters > 2
              ? "clusterCols: one or two columns, not " + clusters
              : "vcov " + vcov + " with " + clusters + " cluster columns (clusterCols)");
    }
    if (!vcov.equals(VcovNames.IID) && params.getRegParam() > 0) {
      throw new IllegalArgumentException(
          "vcov "
              + vcov
              + " with regParam > 0: a penalized estimate is biased, and has no such errors");
    }
    if (!vcov.equals(VcovNames.IID) && !params.getComputeStandardErrors()) {
      throw new IllegalArgumentException(
          "vcov " + vcov + " is asked for, but computeStandardErrors is false");
    }
  }

  /**
   * The standard errors of a fit.
   *
   * @param norm 2-norm of the residuals
   * @param freedom rows less rank
   */
  static CoefficientErrors of(
      QRFactorization f, Training source, TrainingRows rows, double norm, long freedom) {
    String vcov = source.params().getVcov();
    if (vcov.equals(VcovNames.IID)) {
      return classical(f, source, norm, freedom);
    }
    int[] columns = reported(source, f.analysis().columns());
    Inference inference = Inference.of(f, rows.rdd());
    RobustCovariance robust =
        vcov.equals(VcovNames.CLUSTER)
            ? clustered(inference, source, rows, columns).repaired()
            : inference.robust(HcType.valueOf(vcov), columns);
    double[] values = new double[f.analysis().columns()];
    Arrays.fill(values, Double.NaN);
    double[] found = robust.standardErrors();
    var warnings = new ArrayList<String>();
    WaldTest wald = wald(f, source, robust, warnings);
    addWarnings(robust, warnings);
    for (int k = 0; k < columns.length; k++) {
      values[columns[k]] = found[k];
    }
    boolean few = hasEffects(source) && ReportedSolve.affordable(columns.length, values.length);
    return new CoefficientErrors(
        values,
        robust.degreesOfFreedom(),
        said(source.params(), robust),
        robust.hasCovariance() ? robust.covariance() : null,
        within(f, few ? ReportedSolve.of(f, columns) : null),
        wald,
        warnings);
  }

  private static void addWarnings(RobustCovariance robust, List<String> warnings) {
    if (robust.isRepaired()) {
      warnings.add(
          "a variance of the two-way clustered errors came out negative: the covariance's negative"
              + " eigenvalues were put at zero");
    } else if (robust.clusters().length > 1
        && Arrays.stream(robust.variances()).anyMatch(v -> v < 0)) {
      warnings.add("variances of the two-way clustered errors came out negative: they are NaN");
    }
    if (robust.rowsOfLeverageOne() > 0) {
      warnings.add(
          "leverage 1 in %,d row(s), for which %s divides 0 by 0: errors of the coefficients that they"
                  .formatted(robust.rowsOfLeverageOne(), robust.estimator())
              + " move are NaN");
    }
  }

  /** The test of all defined coefficients but the intercept, if it can be computed. */
  private static @Nullable WaldTest wald(
      QRFactorization f, Training source, RobustCovariance robust, List<String> warnings) {
    int n = f.analysis().columns();
    int[] dead = f.deadColumns();
    List<SparseRow> units =
        Arrays.stream(robust.columns())
            .filter(j -> Arrays.binarySearch(dead, j) < 0 && !(source.ones() && j == n - 1))
            .mapToObj(j -> new SparseRow(new int[] {j}, new double[] {1}, new double[] {0}, 1, n))
            .toList();
    double[] errors = robust.standardErrors();
    boolean defined =
        IntStream.range(0, errors.length)
            .filter(k -> Arrays.binarySearch(dead, robust.columns()[k]) < 0)
            .noneMatch(k -> Double.isNaN(errors[k]));
    if (units.isEmpty() || !defined) {
      return null;
    }
    if (!robust.hasCovariance()) {
      warnings.add(
          "F by these errors takes their covariances, which come with %,d coefficients at most: it is"
                  .formatted(ReportedSolve.FEW)
              + " NaN");
      return null;
    }
    try {
      return robust.waldTest(units);
    } catch (IllegalArgumentException e) {
      warnings.add(
          "F by these errors is NaN: the covariance of the %,d coefficients is singular%s"
              .formatted(
                  units.size(),
                  robust.clusters().length > 0
                      ? ", as with fewer clusters than coefficients"
                      : ""));
      return null;
    }
  }

  private static String said(SparseQRRegressionParams params, RobustCovariance robust) {
    if (robust.clusters().length == 0) {
      return robust.estimator();
    }
    String[] by = params.getClusterCols();
    var ways = new ArrayList<String>();
    for (int k = 0; k < by.length; k++) {
      ways.add("%s (%,d)".formatted(by[k], robust.clusters()[k]));
    }
    String correction = robust.estimator().replaceFirst("^(two-way )?clustered, ", "");
    return "clustered by " + String.join(" and ", ways) + ", " + correction;
  }

  private static RobustCovariance clustered(
      Inference inference, Training source, TrainingRows rows, int[] columns) {
    var keys = new ArrayList<JavaRDD<String>>();
    for (int k = 0; k < source.params().getClusterCols().length; k++) {
      keys.add(rows.keys(k));
    }
    List<AbsorbedFactor> absorbed =
        source.design() == null ? List.of() : source.design().absorbedFactors();
    ClusterCorrection correction =
        switch (source.params().getClusterCorrection()) {
          case "sandwich" -> ClusterCorrection.sandwich();
          case VcovNames.FIXEST ->
              absorbed.isEmpty()
                  ? ClusterCorrection.fixest()
                  : ClusterCorrection.fixest(
                      NestedEffects.parameters(inference.rank(), absorbed, rows, keys.size()));
          default -> ClusterCorrection.none();
        };
    return keys.size() == 1
        ? inference.clustered(correction, keys.get(0), columns)
        : inference.clustered(correction, keys.get(0), keys.get(1), columns);
  }

  /** Columns of the table of coefficients: all that are not absorbed. */
  private static int[] reported(Training source, int n) {
    return IntStream.range(0, n)
        .filter(j -> source.design() == null || !source.design().absorbed(j))
        .toArray();
  }

  /** From a sigma that does not count ridge rows as observations. */
  private static CoefficientErrors classical(
      QRFactorization f, Training source, double norm, long freedom) {
    int n = f.analysis().columns();
    int[] columns = reported(source, n);
    double sigma = freedom > 0 ? norm / Math.sqrt(freedom) : Double.NaN;
    // With a features column alone, only the pass over R that its errors need.
    boolean named = source.design() != null && ReportedSolve.affordable(columns.length, n);
    ReportedSolve few = named ? ReportedSolve.of(f, columns) : null;
    boolean effects = hasEffects(source);
    double[] errors = few != null && effects ? few.errors(n) : f.unscaledErrors();
    for (int j = 0; j < n; j++) {
      errors[j] *= sigma;
    }
    double[][] covariance = few == null ? null : few.covariance(sigma);
    double within = effects ? within(f, few) : Double.NaN;
    return new CoefficientErrors(errors, freedom, "", covariance, within, null, List.of());
  }

  private static boolean hasEffects(Training source) {
    return source.design() != null && !source.design().absorbedFactors().isEmpty();
  }

  /** NaN if it would take more than one triangular solve. */
  private static double within(QRFactorization f, @Nullable ReportedSolve few) {
    return few == null ? Double.NaN : few.explained(f.solve().x());
  }
}
