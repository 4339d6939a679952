/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.ml;

import java.util.Set;
import org.apache.spark.ml.linalg.Vector;
import org.apache.spark.ml.param.ParamMap;

/**
 * Stages under the full names of their Python classes. PySpark finds the Python class of a saved
 * stage by the name of its Java class, in the file or of what the JVM has loaded, as a module to
 * import; of a class in {@code io.sparqr} it never finds one, because {@code io} is a module of
 * Python's own. So whatever is saved and loaded is of {@code sparqr.ml}, and PySpark imports the
 * package {@code sparqr.ml} by itself.
 */
final class PythonNames {

  private static final Set<String> MODELS =
      Set.of(
          SparseQRRegressionModel.class.getName(),
          sparqr.ml.SparseQRRegressionModel.class.getName());

  private PythonNames() {}

  /** The estimator itself if it has the name, else a copy that has. */
  static SparseQRRegression of(SparseQRRegression stage) {
    if (stage instanceof sparqr.ml.SparseQRRegression) {
      return stage;
    }
    return stage.copyValues(new sparqr.ml.SparseQRRegression(stage.uid()), ParamMap.empty());
  }

  /** The model itself if it has the name, else a copy that has. */
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
   * Checks the class that a file's metadata name.
   *
   * @throws IllegalArgumentException if it is no model of ours
   */
  static void requireModel(String className, String path) {
    if (!MODELS.contains(className)) {
      throw new IllegalArgumentException(
          path + " holds a " + className + ", not a SparseQRRegressionModel");
    }
  }
}
