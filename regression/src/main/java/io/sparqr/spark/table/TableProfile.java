/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.table;

import java.io.Serializable;
import org.jspecify.annotations.Nullable;

/** The profile of all columns, and the first record that cannot be read. */
final class TableProfile implements Serializable {

  private static final long serialVersionUID = 1;

  /** Levels that are kept of all columns together, at most. */
  private static final int KEPT_LEVELS = 200_000;

  private final ColumnProfile[] columns;
  private long records;
  private long trailing;
  private @Nullable Place firstTrailing;
  private @Nullable Place error;
  private boolean encoding;

  TableProfile(int width) {
    columns = new ColumnProfile[width];
    int levels =
        Math.max(10, Math.min(ColumnProfile.MOST_LEVELS, KEPT_LEVELS / Math.max(1, width)));
    for (int j = 0; j < width; j++) {
      columns[j] = new ColumnProfile(levels);
    }
  }

  ColumnProfile column(int j) {
    return columns[j];
  }

  int width() {
    return columns.length;
  }

  long records() {
    return records;
  }

  /** The records with an empty field behind the last column. */
  long trailing() {
    return trailing;
  }

  @Nullable Place firstTrailing() {
    return firstTrailing;
  }

  /** The first error, if there is one. */
  @Nullable Place error() {
    return error;
  }

  /** Whether the first error is about bytes that are no text. */
  boolean encodingError() {
    return encoding;
  }

  void countRecord() {
    records++;
  }

  void countTrailing(Place place) {
    trailing++;
    firstTrailing = Place.earlier(firstTrailing, place);
  }

  @SuppressWarnings("ReferenceEquality") // which of the two was returned
  void fail(Place place, boolean badText) {
    if (Place.earlier(error, place) == place) {
      error = place;
      encoding = badText;
    }
  }

  TableProfile merge(TableProfile other) {
    for (int j = 0; j < columns.length; j++) {
      columns[j].merge(other.columns[j]);
    }
    records += other.records;
    trailing += other.trailing;
    firstTrailing = Place.earlier(firstTrailing, other.firstTrailing);
    if (other.error != null) {
      fail(other.error, other.encoding);
    }
    return this;
  }
}
