/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.table;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * A column of a table that was read.
 *
 * @param name of the column
 * @param type in words
 * @param levels what is known of the different values of a text column, of other columns nothing
 * @param missing number of values that are missing, if they were counted
 */
public record TableColumn(String name, String type, Optional<Levels> levels, OptionalLong missing) {

  /**
   * The different values of a column.
   *
   * @param count their number, unless they are more than were counted
   */
  public record Levels(OptionalInt count) {

    @Override
    public String toString() {
      return count.isEmpty()
          ? "many levels"
          : count.getAsInt() == 1 ? "1 level" : String.format("%,d levels", count.getAsInt());
    }
  }

  /** A column of which only the type is known. */
  static TableColumn of(String name, String type) {
    return new TableColumn(name, type, Optional.empty(), OptionalLong.empty());
  }

  @Override
  public String toString() {
    List<String> counts = new ArrayList<>();
    levels.ifPresent(l -> counts.add(l.toString()));
    if (missing.orElse(0) > 0) {
      counts.add(String.format("%,d missing", missing.getAsLong()));
    }
    return name + " " + type + (counts.isEmpty() ? "" : " (" + String.join(", ", counts) + ")");
  }
}
