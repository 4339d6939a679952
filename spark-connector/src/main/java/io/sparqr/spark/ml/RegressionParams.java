/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.ml;

import io.sparqr.spark.GpuSparseQR;
import io.sparqr.spark.SparseQRSolver;
import io.sparqr.spark.plan.Words;
import java.io.Serializable;
import java.util.List;
import org.apache.spark.ml.param.BooleanParam;
import org.apache.spark.ml.param.DoubleParam;
import org.apache.spark.ml.param.Param;
import org.apache.spark.ml.param.ParamValidators;
import org.apache.spark.ml.param.Params;

/** The params that estimator and model share, and the one place that maps them to options. */
final class RegressionParams implements Serializable {

  private static final long serialVersionUID = 1;

  final Param<String> weightCol;
  final Param<String> idCol;
  final BooleanParam fitIntercept;
  final DoubleParam regParam;
  final Param<String> ordering;
  final Param<String> backend;
  final DoubleParam rankTolerance;
  final BooleanParam computeStandardErrors;

  /** Makes the params of an owner whose uid is known. */
  RegressionParams(Params owner) {
    String id = owner.uid();
    weightCol =
        new Param<>(
            id,
            "weightCol",
            "weight column name. If this is not set or empty, we treat all instance weights as"
                + " 1.0");
    idCol =
        new Param<>(
            id,
            "idCol",
            "column whose value an error names of the row that it is about; if this is not set or"
                + " empty, errors name partition, row and file alone");
    fitIntercept = new BooleanParam(id, "fitIntercept", "whether to fit an intercept term");
    regParam =
        new DoubleParam(
            id,
            "regParam",
            "ridge parameter (>= 0) of 1/(2 W) sum w (y - x'b - c)^2 + regParam/2 ||b||^2 with W ="
                + " sum of the weights; the intercept c is not penalized",
            ParamValidators.gtEq(0));
    ordering = choice(id, "ordering", "column order", Words.ORDERINGS);
    backend = choice(id, "backend", "what computes", Words.BACKENDS);
    rankTolerance =
        new DoubleParam(
            id,
            "rankTolerance",
            "a column whose remaining 2-norm, after scaling to unit norm, is at most this is"
                + " dead; negative: no detection. If this is not set: 20 (m+n) eps");
    computeStandardErrors =
        new BooleanParam(
            id,
            "computeStandardErrors",
            "whether fit computes the standard errors of the coefficients");
  }

  private static Param<String> choice(String id, String name, String what, Words<?> choices) {
    List<String> names = choices.all();
    return new Param<>(
        id,
        name,
        what + ": one of " + String.join(", ", names),
        ParamValidators.<String>inArray(names));
  }

  /**
   * The solver that an owner's params describe; the ridge is the caller's. Where standard errors
   * are wanted, singletons stay in the tree: the selected inverse has theirs then like all others.
   */
  static SparseQRSolver solver(SparseQRRegressionParams owner) {
    var builder =
        GpuSparseQR.builder()
            .ordering(Words.ORDERINGS.of(owner.getOrdering()))
            .singletons(!owner.getComputeStandardErrors())
            .backend(Words.BACKENDS.of(owner.getBackend()));
    if (owner.isDefined(owner.rankTolerance())) {
      builder.rankTolerance(owner.getRankTolerance());
    }
    return builder.build();
  }
}
