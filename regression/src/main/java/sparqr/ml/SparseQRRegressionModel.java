/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package sparqr.ml;

import org.apache.spark.ml.linalg.Vector;

/** The model that a {@code sparqr.ml.SparseQRRegressionModel} of Python stands for. */
public final class SparseQRRegressionModel extends io.sparqr.spark.ml.SparseQRRegressionModel {

  private static final long serialVersionUID = 1;

  /** An empty model, for service loaders that need a class's name and no more. */
  public SparseQRRegressionModel() {}

  /** A model without params and summary. */
  public SparseQRRegressionModel(String uid, Vector coefficients, double intercept) {
    super(uid, coefficients, intercept);
  }

  @Override
  protected SparseQRRegressionModel bare() {
    return new SparseQRRegressionModel(uid(), coefficients(), intercept());
  }
}
