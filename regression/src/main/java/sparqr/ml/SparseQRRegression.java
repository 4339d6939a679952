/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package sparqr.ml;

import org.apache.spark.ml.linalg.Vector;

/** The estimator that a {@code sparqr.ml.SparseQRRegression} of Python stands for. */
public final class SparseQRRegression extends io.sparqr.spark.ml.SparseQRRegression {

  private static final long serialVersionUID = 1;

  /** An estimator with a uid of its own; service loaders ask for such a constructor. */
  public SparseQRRegression() {}

  /** An estimator with a given uid. */
  public SparseQRRegression(String uid) {
    super(uid);
  }

  @Override
  protected SparseQRRegressionModel model(String uid, Vector coefficients, double intercept) {
    return new SparseQRRegressionModel(uid, coefficients, intercept);
  }
}
