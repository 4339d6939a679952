/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.table;

import java.io.Serializable;
import java.util.HashSet;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** What the values of a column look like: how many of each kind, and where the first of it is. */
final class ColumnProfile implements Serializable {

  private static final long serialVersionUID = 1;

  /** Levels that are counted, at most. */
  static final int MOST_LEVELS = 1000;

  /** Different marks of missing values that are kept. */
  private static final int MOST_MARKS = 10;

  private final long[] counts = new long[ValueKind.COUNT];
  private final Place[] first = new Place[ValueKind.COUNT];
  private final Map<String, Long> marks = new TreeMap<>();
  private final int mostLevels;
  private long missing;
  private @Nullable Set<String> levels = new HashSet<>();

  ColumnProfile(int mostLevels) {
    this.mostLevels = mostLevels;
  }

  void addMissing() {
    missing++;
  }

  /** Counts a value; {@code plain} is it without marks between thousands. */
  void add(String value, String plain, int file, long line) {
    ValueKind kind = plain.isEmpty() ? ValueKind.OTHER : Values.kind(plain);
    int k = kind.ordinal();
    counts[k]++;
    if (first[k] == null) {
      first[k] = new Place(file, line, Shown.of(value));
    }
    if (kind == ValueKind.MARK && (marks.size() < MOST_MARKS || marks.containsKey(value))) {
      marks.merge(value, 1L, Long::sum);
    }
    if (levels != null) {
      levels.add(value);
      levels = levels.size() > mostLevels ? null : levels;
    }
  }

  ColumnProfile merge(ColumnProfile other) {
    for (int k = 0; k < counts.length; k++) {
      counts[k] += other.counts[k];
      first[k] = Place.earlier(first[k], other.first[k]);
    }
    other.marks.forEach((mark, count) -> marks.merge(mark, count, Long::sum));
    missing += other.missing;
    if (levels != null && other.levels != null) {
      levels.addAll(other.levels);
    }
    boolean many = levels == null || other.levels == null || levels.size() > mostLevels;
    levels = many ? null : levels;
    return this;
  }

  long count(ValueKind kind) {
    return counts[kind.ordinal()];
  }

  /** Where the first value of a kind is, if there is one. */
  @Nullable Place first(ValueKind kind) {
    return first[kind.ordinal()];
  }

  /** Marks of missing values that were not named as such, with their numbers. */
  Map<String, Long> marks() {
    return marks;
  }

  long missing() {
    return missing;
  }

  /** The number of values that are not missing. */
  long values() {
    long sum = 0;
    for (long c : counts) {
      sum += c;
    }
    return sum;
  }

  /** The number of different values, unless they are more than were counted. */
  OptionalInt levels() {
    return levels == null ? OptionalInt.empty() : OptionalInt.of(levels.size());
  }
}
