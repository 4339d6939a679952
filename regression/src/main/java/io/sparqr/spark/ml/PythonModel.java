/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.ml;

import java.util.Set;
import org.apache.spark.ml.linalg.Vector;
import org.apache.spark.ml.param.ParamMap;

/**
 * Models under the full names of their Python classes, for the reason of {@link PythonEstimator}.
 */
final class PythonModel {

  private static final Set<String> MODELS =
      Set.of(
          SparseQRRegressionModel.class.getName(),
          sparqr.ml.SparseQRRegressionModel.class.getName());

  private PythonModel() {}

  /** The model itself if it has the name, otherwise a copy with the name. */
  static SparseQRRegressionModel of(SparseQRRegressionModel model) {
    if (model instanceof sparqr.ml.SparseQRRegressionModel) {
      return model;
    }
    return model
        .copyValues(model(model.uid(), model.coefficients(), model.intercept()), ParamMap.empty())
        .withDesign(model.design());
  }

  /** A model without params. */
  static SparseQRRegressionModel model(String uid, Vector coefficients, double intercept) {
    return new sparqr.ml.SparseQRRegressionModel(uid, coefficients, intercept);
  }

  /**
   * Checks the class named in a file's metadata.
   *
   * @throws IllegalArgumentException if it is not one of our models
   */
  static void requireModel(String className, String path) {
    if (!MODELS.contains(className)) {
      throw new IllegalArgumentException(
          path + " holds a " + className + ", not a SparseQRRegressionModel");
    }
  }
}
