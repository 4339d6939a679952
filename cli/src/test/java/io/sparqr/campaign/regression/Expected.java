/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign.regression;

import java.util.List;
import java.util.Map;

/**
 * What is right for a case.
 *
 * @param error part of the message of the error that is right; empty: a fit is
 * @param coefficients in R's order
 * @param ordered whether that order is that of every answer
 * @param scalars by name
 * @param notes what is special, for display
 */
record Expected(
    String error,
    List<Coefficient> coefficients,
    boolean ordered,
    Map<String, Figure> scalars,
    List<String> notes) {

  /**
   * A row of the table.
   *
   * @param defined whether its column is independent of those before it
   */
  record Coefficient(
      String name, boolean defined, Figure estimate, Figure error, Figure t, Figure p) {}

  static Expected failing(String error) {
    return new Expected(error, List.of(), true, Map.of(), List.of());
  }

  boolean fails() {
    return !error.isEmpty();
  }
}
