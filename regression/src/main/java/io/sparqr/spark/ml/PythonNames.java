/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.ml;

import java.util.Set;
import org.apache.spark.ml.linalg.Vector;
import org.apache.spark.ml.param.ParamMap;

/**
 * Stages under the full names of their Python classes. PySpark imports the Python class of a saved
 * or loaded stage by the name of its Java class. It cannot find a class of {@code io.sparqr},
 * because {@code io} is a module of Python itself. Stages are therefore saved and loaded as classes
 * of {@code sparqr.ml}, a package that PySpark then imports without further help.
 */
final class PythonNames {

  private static final Set<String> MODELS =
      Set.of(
          SparseQRRegressionModel.class.getName(),
          sparqr.ml.SparseQRRegressionModel.class.getName());

  private PythonNames() {}

  /** The estimator itself if it has the name, otherwise a copy with the name. */
  static SparseQRRegression of(SparseQRRegression stage) {
    if (stage instanceof sparqr.ml.SparseQRRegression) {
      return stage;
    }
    return stage.copyValues(new sparqr.ml.SparseQRRegression(stage.uid()), ParamMap.empty());
  }

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
