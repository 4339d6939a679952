/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Lists of columns and of reference levels as people write them on the command line: divided by
 * commas, which may also stand in the names and the levels themselves. A name in a list is the
 * longest text between commas that is a column, so that {@code --cluster "a, b"} is one column
 * where there is one of that name.
 */
final class ColumnLists {

  private final Set<String> columns;

  ColumnLists(List<String> columns) {
    this.columns = Set.copyOf(columns);
  }

  /**
   * The columns of lists.
   *
   * @throws UsageException for a name that is no column, naming those that there are
   */
  List<String> columns(String option, List<String> lists) {
    var found = new ArrayList<String>();
    for (String list : lists) {
      String[] parts = list.split(",", -1);
      for (int from = 0; from < parts.length; ) {
        int to = parts.length;
        while (to > from && !columns.contains(name(parts, from, to))) {
          to--;
        }
        if (to == from) {
          throw new UsageException(
              option + ": no column " + name(parts, from, from + 1) + "; there are " + all());
        }
        found.add(name(parts, from, to));
        from = to;
      }
    }
    return found;
  }

  /** The texts from one comma to another, without spaces and backticks around them. */
  private static String name(String[] parts, int from, int to) {
    String text = String.join(",", Arrays.asList(parts).subList(from, to)).strip();
    boolean quoted = text.length() > 1 && text.startsWith("`") && text.endsWith("`");
    return quoted ? text.substring(1, text.length() - 1) : text;
  }

  /**
   * Reference levels, each as {@code column=level}: another begins after a comma where a column and
   * an equals sign follow.
   *
   * @throws UsageException where a list does not begin with a column and an equals sign
   */
  List<String> references(String option, List<String> lists) {
    Map<String, String> levels = new LinkedHashMap<>();
    for (String list : lists) {
      String last = null;
      for (String part : list.split(",", -1)) {
        String column = columnOf(part);
        if (column != null) {
          last = column;
          levels.put(
              column,
              part.substring(part.indexOf('=', part.indexOf(column) + column.length()) + 1));
        } else if (last == null) {
          throw new UsageException(
              option + " " + list + ": not of the form column=level; there are " + all());
        } else {
          levels.merge(last, part, (a, b) -> a + "," + b);
        }
      }
    }
    return levels.entrySet().stream().map(e -> e.getKey() + "=" + e.getValue()).toList();
  }

  /** The column before the first equals sign that has one before it; null if there is none. */
  private String columnOf(String part) {
    for (int at = part.indexOf('='); at > 0; at = part.indexOf('=', at + 1)) {
      String name = name(new String[] {part.substring(0, at)}, 0, 1);
      if (columns.contains(name)) {
        return name;
      }
    }
    return null;
  }

  private String all() {
    return String.join(", ", columns.stream().sorted().toList());
  }
}
