/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.internal;

import io.sparqr.spark.plan.Ridge;
import io.sparqr.spark.resource.Engine;
import io.sparqr.spark.rows.RowSource;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * The rows that a factorization was made of.
 *
 * @param engine where they are
 * @param source null where they are not there: the factorization was loaded
 * @param whole whether they are all the rows of A, and no row of an earlier R stands for some
 * @param ridge the penalty, where its rows are in the source; otherwise that of the options holds
 */
record FactoredRows(Engine engine, RowSource source, boolean whole, Ridge ridge) {

  static FactoredRows of(RowSource source, Earlier earlier) {
    return new FactoredRows(source.engine(), source, !earlier.any(), earlier.ridge());
  }

  /** Those of a factorization that was loaded. */
  static FactoredRows notThere(JavaSparkContext context) {
    return new FactoredRows(Engine.of(context), null, false, Ridge.NONE);
  }
}
