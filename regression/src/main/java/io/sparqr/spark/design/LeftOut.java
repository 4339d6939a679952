/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.design;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The rows that a fit leaves out because they lack a value.
 *
 * @param rows their number
 * @param lacking by variable the number of these rows that lack it; a row may lack several
 */
public record LeftOut(long rows, Map<String, Long> lacking) {

  /** No row was left out. */
  public static final LeftOut NONE = new LeftOut(0, Map.of());

  /**
   * Rows by the fields that they lack.
   *
   * @param counts the number of rows, then those that lack each field
   * @param names of the fields
   */
  static LeftOut of(long[] counts, String[] names) {
    var lacking = new LinkedHashMap<String, Long>();
    for (int f = 0; f < names.length; f++) {
      if (counts[1 + f] > 0) {
        lacking.merge(names[f], counts[1 + f], Math::max);
      }
    }
    return new LeftOut(counts[0], lacking);
  }

  /** In words; empty if there are none. */
  @Override
  public String toString() {
    return rows == 0
        ? ""
        : lacking.entrySet().stream()
            .map(e -> "%s (%,d)".formatted(e.getKey(), e.getValue()))
            .collect(
                Collectors.joining(
                    ", ",
                    "%,d %s left out for want of ".formatted(rows, rows == 1 ? "row" : "rows"),
                    ""));
  }
}
