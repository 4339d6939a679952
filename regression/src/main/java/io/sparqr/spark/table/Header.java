/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.table;

import io.sparqr.error.MatrixFormatException;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The names of the columns.
 *
 * @param names of all fields; a column without a name is called {@code _c} and its index
 * @param nameless whether the last one has none, as where each line ends with a delimiter
 */
record Header(List<String> names, boolean nameless) implements Serializable {

  /**
   * The header of a file.
   *
   * @throws MatrixFormatException if a name occurs twice
   */
  static Header of(CsvRecord record, String file, long line) {
    List<String> names = new ArrayList<>();
    Map<String, Integer> places = new HashMap<>();
    for (int j = 0; j < record.count(); j++) {
      String text = record.field(j).strip();
      String name = text.isEmpty() ? "_c" + j : text;
      Integer before = places.put(name, j + 1);
      if (before != null) {
        throw new MatrixFormatException(
            String.format(
                "%s, line %d: two columns are called %s, fields %d and %d",
                file, line, Shown.of(name), before, j + 1),
            file,
            line);
      }
      names.add(name);
    }
    int last = record.count() - 1;
    return new Header(List.copyOf(names), last > 0 && record.field(last).isBlank());
  }

  int width() {
    return names.size();
  }
}
