/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign.regression;

import java.util.List;
import java.util.Map;

/**
 * What a way of solving a case answered; NaN for nothing.
 *
 * @param error the message of its error; empty: none
 * @param rows of the table
 * @param scalars by the names of {@link Expected}; those that it does not say are missing
 */
record Found(String error, List<Line> rows, Map<String, Double> scalars) {

  /** A row of the table. */
  record Line(String name, double estimate, double error, double t, double p) {}

  static Found failed(Throwable e) {
    Throwable root = e;
    while (root.getCause() != null && root.getCause() != root) {
      root = root.getCause();
    }
    String what = e.getMessage() == null ? e.toString() : e.getMessage();
    String under = root == e ? "" : " <- " + root;
    String kind = e.getClass().getSimpleName();
    return new Found(kind + ": " + what.strip() + under, List.of(), Map.of());
  }

  boolean failed() {
    return !error.isEmpty();
  }
}
