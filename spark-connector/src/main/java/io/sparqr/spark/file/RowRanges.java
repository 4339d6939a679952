/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.file;

import io.sparqr.error.IndexOverflowException;
import java.io.Serializable;

/** m rows cut into consecutive ranges of about equal size. */
final class RowRanges implements Serializable {

  private static final long serialVersionUID = 1;

  private static final long MOST_ROWS = 1L << 27;
  private static final long MOST_RANGES = 1L << 20;

  private final long rows;
  private final int ranges;

  /**
   * Cuts the rows.
   *
   * @param rows m, at least 1
   * @param wanted number of ranges, at least 1; reduced to the number of rows, and increased if a
   *     range would have too many rows for one task
   * @throws IndexOverflowException for 2^47 rows or more
   */
  RowRanges(long rows, long wanted) {
    long count = Math.min(rows, Math.max(wanted, (rows + MOST_ROWS - 1) / MOST_ROWS));
    if (count > MOST_RANGES) {
      throw new IndexOverflowException(
          rows + " rows do not fit " + MOST_RANGES + " partitions", "rows", rows);
    }
    this.rows = rows;
    this.ranges = (int) count;
  }

  /** Number of ranges. */
  int count() {
    return ranges;
  }

  /** First row of range p; m for p = count(). */
  long first(int p) {
    // Quotient and remainder separately, because the product could exceed 2^63.
    return rows / ranges * p + rows % ranges * p / ranges;
  }

  /** Number of rows of range p. */
  int size(int p) {
    return (int) (first(p + 1) - first(p));
  }

  /** The range of a row. */
  int of(long row) {
    // Rounding may be off by one.
    int p = Math.min(ranges - 1, (int) (row * (double) ranges / rows));
    while (first(p) > row) {
      p--;
    }
    while (first(p + 1) <= row) {
      p++;
    }
    return p;
  }
}
