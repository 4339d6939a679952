/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.table;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Requests of types, {@code id=text,day=date}; a column's name may contain commas and equals. */
final class TypeRequest {

  private TypeRequest() {}

  /**
   * Reads a request.
   *
   * @throws IllegalArgumentException if it names no column, or no type
   */
  static Map<String, ColumnType> parse(String request, List<String> names) {
    Map<String, ColumnType> types = new HashMap<>();
    List<String> pending = new ArrayList<>();
    String rest = request;
    while (!rest.isEmpty()) {
      String name = longest(rest, names);
      if (name == null) {
        throw new IllegalArgumentException(
            "'" + rest + "': no column of this name; types are given as COLUMN=TYPE,...");
      }
      pending.add(name);
      rest = rest.substring(name.length()).stripLeading();
      if (rest.startsWith("=")) {
        int end = rest.indexOf(',') < 0 ? rest.length() : rest.indexOf(',');
        ColumnType type = ColumnType.of(rest.substring(1, end));
        pending.forEach(column -> types.put(column, type));
        pending.clear();
        rest = rest.substring(end);
      }
      rest = rest.startsWith(",") ? rest.substring(1).stripLeading() : rest;
    }
    if (!pending.isEmpty()) {
      throw new IllegalArgumentException("'" + request + "': no type for " + pending.get(0));
    }
    return types;
  }

  /** The longest name with which the text begins, up to a comma, an equals sign or the end. */
  private static @Nullable String longest(String text, List<String> names) {
    String best = null;
    for (String name : names) {
      if (text.startsWith(name) && (best == null || name.length() > best.length())) {
        String behind = text.substring(name.length()).stripLeading();
        if (behind.isEmpty() || behind.startsWith("=") || behind.startsWith(",")) {
          best = name;
        }
      }
    }
    return best;
  }
}
