/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.integrity;

import java.util.Arrays;

/**
 * The sums of {@link ColumnSums} over a chunk of rows that meets few of all columns: kept by
 * distinct column, so that what is taken over in the chunks' order is one addition a column and not
 * one an entry. Compensated as those are: equal entries round to the same side, and plain sums of
 * thousands of them are off by thousands of eps. One instance a thread; 4 bytes a column of the
 * task, and 36 a column met.
 */
final class FewColumns {

  private final int columns;

  /** Where a column's sums are, if the column there is this one: never cleared. */
  private int[] place;

  private int[] number = new int[64];
  private double[] sum = new double[4 * 64];
  private int used;

  /** None yet of so many columns, right-hand sides counted. */
  FewColumns(int columns) {
    this.columns = columns;
  }

  /** Forgets all sums. */
  void clear() {
    used = 0;
  }

  /** Where column j's sums are until {@link #clear}. */
  int place(int j) {
    if (place == null) {
      place = new int[columns];
    }
    int at = place[j];
    return at < used && number[at] == j ? at : more(j);
  }

  private int more(int j) {
    if (used == number.length) {
      number = Arrays.copyOf(number, 2 * used);
      sum = Arrays.copyOf(sum, Math.multiplyExact(8, used));
    }
    Arrays.fill(sum, 4 * used, 4 * used + 4, 0);
    number[used] = j;
    place[j] = used;
    return used++;
  }

  /** Adds to the sums at a place. */
  void add(int place, double squares, double probe) {
    ColumnSums.add(sum, 4 * place, squares);
    ColumnSums.add(sum, 4 * place + 2, probe);
  }

  /** Adds the sums of the columns met since {@link #clear} to those of all columns. */
  void addTo(ColumnSums sums) {
    for (int k = 0; k < used; k++) {
      sums.add(number[k], sum, 4 * k);
    }
  }
}
