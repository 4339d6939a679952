/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign.regression;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;

/** The levels of a column as a factor. */
final class Levels {

  private final List<String> names = new ArrayList<>();
  private final int[] codes;

  Levels(Sheet.Column column) {
    this(column, null);
  }

  /**
   * FALSE before TRUE, numbers ascending, texts by their UTF-8 bytes.
   *
   * @param first the level that goes before them; null: none
   */
  Levels(Sheet.Column column, String first) {
    var all = new TreeSet<>(order(column.kind()));
    for (Object v : column.values()) {
      all.add(one(v));
    }
    var sorted = new ArrayList<>(all);
    sorted.sort(Comparator.comparing(v -> !text(v).equals(first)));
    sorted.forEach(v -> names.add(text(v)));
    codes = Arrays.stream(column.values()).mapToInt(v -> sorted.indexOf(one(v))).toArray();
  }

  /** -0 is 0. */
  private static Object one(Object v) {
    return v instanceof Double d ? (Object) (d + 0.0) : v;
  }

  private static Comparator<Object> order(Sheet.Kind kind) {
    return switch (kind) {
      case TEXT ->
          (a, b) ->
              Arrays.compareUnsigned(
                  ((String) a).getBytes(StandardCharsets.UTF_8),
                  ((String) b).getBytes(StandardCharsets.UTF_8));
      case TRUTH -> Comparator.comparing(v -> (Boolean) v);
      default -> Comparator.comparingDouble(v -> ((Number) v).doubleValue());
    };
  }

  /** As R prints it. */
  private static String text(Object v) {
    if (v instanceof Boolean b) {
      return b ? "TRUE" : "FALSE";
    }
    boolean whole = v instanceof Double d && d == Math.rint(d);
    return whole ? Long.toString(((Double) v).longValue()) : v.toString();
  }

  /** In their order. */
  List<String> names() {
    return names;
  }

  int count() {
    return names.size();
  }

  /** The level in a row. */
  int code(int row) {
    return codes[row];
  }

  boolean[] dummy(int level) {
    var is = new boolean[codes.length];
    for (int i = 0; i < is.length; i++) {
      is[i] = codes[i] == level;
    }
    return is;
  }

  /** The combinations of several columns as one factor; names are of no use. */
  static int[] combined(List<Levels> parts) {
    int rows = parts.get(0).codes.length;
    var codes = new int[rows];
    for (Levels part : parts) {
      for (int i = 0; i < rows; i++) {
        codes[i] = codes[i] * part.count() + part.code(i);
      }
    }
    int[] sorted = Arrays.stream(codes).distinct().sorted().toArray();
    return Arrays.stream(codes).map(c -> Arrays.binarySearch(sorted, c)).toArray();
  }
}
