/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.table;

/**
 * A column of a table that was read.
 *
 * @param name of the column
 * @param type in words
 * @param levels different values of a text column; -1: not counted; -2: more than were counted
 * @param missing values that are missing; -1: not counted
 */
public record TableColumn(String name, String type, int levels, long missing) {

  @Override
  public String toString() {
    var text = new StringBuilder(name).append(' ').append(type);
    String levelText = levels == 1 ? "1 level" : String.format("%,d levels", levels);
    if (levels >= 0) {
      text.append(" (").append(levelText);
    } else if (levels == -2) {
      text.append(" (many levels");
    }
    if (missing > 0) {
      text.append(levels == -1 ? " (" : ", ").append(String.format("%,d missing", missing));
    }
    return text.append(levels != -1 || missing > 0 ? ")" : "").toString();
  }
}
