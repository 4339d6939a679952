/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.connect;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What a client wants besides the options of a solver: each as name=value. */
final class Words {

  private final Map<String, String> values = new HashMap<>();

  Words(String... words) {
    for (String word : words) {
      int at = word.indexOf('=');
      if (at < 1) {
        throw new IllegalArgumentException("\"" + word + "\" is not of the form name=value");
      }
      values.put(word.substring(0, at), word.substring(at + 1));
    }
  }

  boolean yes(String name) {
    return Boolean.parseBoolean(values.get(name));
  }

  /** A number; 0 if it is not given. */
  double number(String name) {
    return Double.parseDouble(values.getOrDefault(name, "0"));
  }

  int count(String name) {
    return Integer.parseInt(values.getOrDefault(name, "0"));
  }

  String text(String name) {
    return values.getOrDefault(name, "");
  }

  /** Counts with commas between them. */
  List<Integer> counts(String name) {
    return Arrays.stream(text(name).split(",")).map(Integer::valueOf).toList();
  }
}
