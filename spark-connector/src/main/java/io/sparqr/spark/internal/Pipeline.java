/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.internal;

import io.sparqr.spark.ProgressListener;
import io.sparqr.spark.QRFactorization;
import io.sparqr.spark.plan.SolveOptions;

/** The way of the data from rows to a factorization. */
public final class Pipeline {

  private Pipeline() {}

  /** Steps 1 to 6. */
  public static QRFactorization factorize(
      RowSource source, SolveOptions options, ProgressListener listener) {
    throw new UnsupportedOperationException("in the making");
  }
}
