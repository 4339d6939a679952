/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.ml;

import io.sparqr.spark.design.LeftOut;
import io.sparqr.spark.model.SparseRow;
import org.apache.spark.api.java.JavaRDD;

/** Rows of [X 1] or of X, valid until closed. */
interface TrainingRows extends AutoCloseable {
  /** The rows of the design with the label as right-hand side, intercept included. */
  JavaRDD<SparseRow> rdd();

  /** The rows of the data that are not among them. */
  LeftOut leftOut();

  /** Each row's cluster in way k of clustering, aligned with the rows. */
  JavaRDD<String> keys(int k);

  @Override
  void close();
}
