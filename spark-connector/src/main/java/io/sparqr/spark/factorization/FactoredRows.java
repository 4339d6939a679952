/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factorization;

import io.sparqr.spark.engine.Engine;
import io.sparqr.spark.plan.Ridge;
import io.sparqr.spark.rows.RowSource;
import java.util.Optional;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * The rows of a factorization.
 *
 * @param engine the engine that holds them
 * @param source unless they are not available: the factorization was loaded
 * @param whole whether they are all rows of A, with none replaced by rows of an earlier R
 * @param ridge the penalty, if its rows are in the source; otherwise the options have it
 */
public record FactoredRows(Engine engine, Optional<RowSource> source, boolean whole, Ridge ridge) {

  public static FactoredRows of(RowSource source, Earlier earlier) {
    return new FactoredRows(source.engine(), Optional.of(source), !earlier.any(), earlier.ridge());
  }

  /** The rows of a loaded factorization, which are not available. */
  static FactoredRows notThere(JavaSparkContext context) {
    return new FactoredRows(Engine.of(context), Optional.empty(), false, Ridge.NONE);
  }
}
