/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.ml;

import org.apache.spark.ml.param.ParamMap;

/**
 * Estimators under the full names of their Python classes. PySpark imports the Python class of a
 * saved or loaded stage by the name of its Java class. It cannot find a class of {@code io.sparqr},
 * because {@code io} is a module of Python itself. Stages are therefore saved and loaded as classes
 * of {@code sparqr.ml}, a package that PySpark then imports without further help.
 */
final class PythonEstimator {

  private PythonEstimator() {}

  /** The estimator itself if it has the name, otherwise a copy with the name. */
  static SparseQRRegression of(SparseQRRegression stage) {
    if (stage instanceof sparqr.ml.SparseQRRegression) {
      return stage;
    }
    return stage.copyValues(new sparqr.ml.SparseQRRegression(stage.uid()), ParamMap.empty());
  }
}
