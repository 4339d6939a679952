/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.rows;

import io.sparqr.error.IndexOverflowException;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.wire.LeverageCodec;
import java.util.Arrays;
import java.util.Iterator;

/**
 * The map side of the leverages: weighted, equilibrated rows in positions are sent to the task of
 * their front as by {@link RowRouter}, but uncombined, with two right-hand sides: the partition and
 * the number of the row among those of positive weight. Rows outside the fronts have known
 * leverages, which are sent with the driver's key: 1 for the row of a singleton, because its column
 * fits any label, and 0 for a row without entries.
 */
public final class LeverageRouter extends RowShuffle {

  /** The right-hand sides: partition and row number. */
  public static final int WIDTH = 2;

  private final double[] id;
  private long count;
  private int[] known = new int[16];
  private double[] value = new double[16];
  private int knownCount;

  public LeverageRouter(SolvePlan plan, int partition, Iterator<SparseRow> rows) {
    super(plan, partition, rows, true);
    this.id = new double[] {partition, 0};
  }

  @Override
  int width() {
    return WIDTH;
  }

  @Override
  void route() {
    long number = count++;
    if (number > Integer.MAX_VALUE - 8) {
      throw new IndexOverflowException(
          "leverages of more than 2^31 rows of partition " + partition, "rows", count);
    }
    int entries = reader.count();
    int[] index = reader.index();
    double[] values = reader.value();
    for (int k = 0; k < entries; k++) {
      values[k] = plan.scaled(index[k], values[k]);
      index[k] = plan.position(index[k]);
    }
    SortedPairs.sort(index, values, entries);
    int front = entries == 0 ? -1 : plan.frontOf(index[0]);
    if (front >= 0) {
      id[1] = number;
      send(front, index, values, 0, entries, id, 0);
      return;
    }
    if (knownCount == known.length) {
      known = Arrays.copyOf(known, 2 * knownCount);
      value = Arrays.copyOf(value, 2 * knownCount);
    }
    known[knownCount] = (int) number;
    value[knownCount++] = entries == 0 ? 0 : 1;
  }

  @Override
  void flush() {
    if (knownCount > 0) {
      sendToDriver(LeverageCodec.encode(partition, known, value, 0, knownCount));
    }
  }
}
