/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import io.sparqr.spark.input.UsageException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
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
    var references = new ArrayList<String>();
    for (String list : lists) {
      if (level(list, 0) < 0) {
        throw new UsageException(
            option + " " + list + ": not of the form column=level; there are " + all());
      }
      for (int from = 0; from <= list.length(); ) {
        int level = level(list, from);
        int to = list.indexOf(',', level);
        while (to >= 0 && level(list, to + 1) < 0) {
          to = list.indexOf(',', to + 1);
        }
        to = to < 0 ? list.length() : to;
        String column = name(new String[] {list.substring(from, level - 1)}, 0, 1);
        references.add(column + "=" + list.substring(level, to));
        from = to + 1;
      }
    }
    return references;
  }

  /** Where a level begins, if a column and an equals sign are at this place; otherwise -1. */
  private int level(String list, int from) {
    for (int at = list.indexOf('=', from); at > from; at = list.indexOf('=', at + 1)) {
      if (columns.contains(name(new String[] {list.substring(from, at)}, 0, 1))) {
        return at + 1;
      }
    }
    return -1;
  }

  private String all() {
    return String.join(", ", columns.stream().sorted().toList());
  }
}
