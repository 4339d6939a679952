/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.rows;

import io.sparqr.spark.SparseRow;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.wire.ObjectCodec;
import java.io.Serializable;
import java.util.Iterator;

/**
 * The map side of further right-hand sides: what {@link RowRouter} does with rows, without their
 * entries. A row's weighted right-hand sides go to the task of its front, in the same order; those
 * of a singleton row to the driver with their position; the norm of rows without entries and a
 * {@link Part} too.
 */
public final class RhsRouter extends RowShuffle {

  private final int[] position = new int[1];
  private final double[] one = {1};
  private double[] empty = new double[0];
  private long count;

  /**
   * What a partition had.
   *
   * @param rows that count
   * @param width right-hand sides, 0 if there was no row
   * @param empty size width: norms of the right-hand sides of rows without entries
   */
  public record Part(int partition, long rows, int width, double[] empty) implements Serializable {}

  public RhsRouter(SolvePlan plan, int partition, Iterator<SparseRow> rows) {
    super(plan, partition, rows, false);
  }

  @Override
  int width() {
    return reader.rhsCount();
  }

  @Override
  void route() {
    count++;
    double[] b = reader.rhs();
    empty = empty.length == b.length ? empty : new double[b.length];
    if (reader.count() == 0) {
      for (int k = 0; k < b.length; k++) {
        empty[k] = Math.hypot(empty[k], b[k]);
      }
      return;
    }
    int least = Integer.MAX_VALUE;
    for (int k = 0; k < reader.count(); k++) {
      least = Math.min(least, plan.position(reader.index()[k]));
    }
    int front = plan.frontOf(least);
    position[0] = least;
    send(front, position, one, 0, front < 0 ? 1 : 0, b, 0);
  }

  @Override
  void flush() {
    int width = Math.max(0, reader.rhsCount());
    double[] norms = empty.length == width ? empty : new double[width];
    sendToDriver(ObjectCodec.encode(new Part(partition, count, width, norms)));
  }
}
