/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign;

import io.sparqr.spark.LeastSquaresSolution;
import java.util.List;
import java.util.Map;

/**
 * A solution, with the right-hand sides and weights that it is for.
 *
 * @param solution x, norms, rank, report
 * @param b by right-hand side
 * @param weights of the rows
 */
record Answer(LeastSquaresSolution solution, double[][] b, double[] weights) {

  /** Whether the report says that columns are nearly dependent or digits are lost. */
  boolean warned() {
    Map<String, Object> report = solution.report().toMap();
    return report.get("nearlyDependent") instanceof List<?> named && !named.isEmpty()
        || solution.report().warnings().stream()
            .anyMatch(w -> w.matches("(?is).*(depend|condition|digits).*"));
  }
}
