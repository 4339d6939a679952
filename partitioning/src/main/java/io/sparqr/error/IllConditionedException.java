/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.error;

/** The matrix is closer to a singular one than the caller allows. */
public final class IllConditionedException extends SparseQrException {

  private final double condition;
  private final int[] columns;

  /**
   * The one-line message, and the fields that a program can read.
   *
   * @param condition estimate of 1 / sigma_min of the matrix with columns of norm 1
   * @param columns columns that are nearly dependent on each other, original indices
   */
  public IllConditionedException(String message, double condition, int[] columns) {
    super(message);
    this.condition = condition;
    this.columns = columns.clone();
  }

  public double condition() {
    return condition;
  }

  public int[] columns() {
    return columns.clone();
  }
}
