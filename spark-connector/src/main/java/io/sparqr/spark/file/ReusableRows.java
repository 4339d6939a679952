/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.file;

import io.sparqr.spark.model.SparseRow;
import org.apache.spark.api.java.JavaRDD;

/**
 * An RDD that makes its rows from arrays each time they are read. A reader that keeps none of them
 * can do with a few row objects for a whole partition; millions otherwise take more memory than the
 * rows' numbers.
 */
public interface ReusableRows {

  /** These rows, each valid until the next one of its partition is asked for. */
  JavaRDD<SparseRow> reused();
}
