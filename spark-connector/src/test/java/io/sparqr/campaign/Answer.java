/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign;

import io.sparqr.spark.report.LeastSquaresSolution;
import java.util.List;

/**
 * A solution, with the right-hand sides and weights that it is for.
 *
 * @param solution x, norms, rank, report
 * @param b by right-hand side
 * @param weights of the rows
 */
record Answer(LeastSquaresSolution solution, double[][] b, double[] weights) {

  /** The report's key of this name. */
  Object reported(String key) {
    return solution.report().toMap().get(key);
  }

  /** Whether the report says that columns are nearly dependent or digits are lost. */
  boolean warned() {
    return reported("nearlyDependent") instanceof List<?> named && !named.isEmpty()
        || solution.report().warnings().stream()
            .anyMatch(w -> w.matches("(?is).*(nearly|condition|digits).*"));
  }
}
