/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.rows;

import io.sparqr.error.IndexOverflowException;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.wire.RowValuesCodec;
import java.util.Iterator;

/**
 * The map side of products with Q: the partition and the number of each row, rows of weight 0
 * counted, go to the task of its front in the order of {@link RowRouter}, which is that of the
 * reflectors. Rows of singletons, with their position, and rows without entries go to the driver's
 * key, as does the number of rows of the partition.
 */
public final class RowNumbers extends RowShuffle {

  /** The right-hand sides: partition and row number. */
  public static final int WIDTH = 2;

  private final int[] position = new int[1];
  private final double[] one = {1};
  private final double[] id;

  /** Numbers the rows of a partition. */
  public RowNumbers(SolvePlan plan, int partition, Iterator<SparseRow> rows) {
    super(plan, partition, rows, true);
    this.id = new double[] {partition, 0};
  }

  @Override
  int width() {
    return WIDTH;
  }

  @Override
  void route() {
    id[1] = number(reader.position());
    int least = Integer.MAX_VALUE;
    for (int k = 0; k < reader.count(); k++) {
      least = Math.min(least, plan.position(reader.index()[k]));
    }
    int front = reader.count() == 0 ? -1 : plan.frontOf(least);
    position[0] = least;
    send(front, position, one, 0, front < 0 && reader.count() > 0 ? 1 : 0, id, 0);
  }

  private int number(long row) {
    if (row > Integer.MAX_VALUE - 8) {
      throw new IndexOverflowException(
          "Q of more than 2^31 rows of partition " + partition, "rows", row + 1);
    }
    return (int) row;
  }

  @Override
  void flush() {
    int rows = number(reader.position() + 1);
    sendToDriver(RowValuesCodec.rows(partition, rows));
  }
}
