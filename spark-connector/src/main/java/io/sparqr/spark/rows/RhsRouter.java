/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.rows;

import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.wire.ObjectCodec;
import java.io.Serializable;
import java.util.Iterator;

/**
 * The map side for further right-hand sides: like {@link RowRouter}, but without the entries of the
 * rows. A row's weighted right-hand sides are sent to the task of its front, in the same order.
 * Those of a singleton row go to the driver with their position, as do a {@link Part} and the norm
 * of the rows without entries.
 */
public final class RhsRouter extends RowShuffle {

  private final int[] position = new int[1];
  private final double[] one = {1};
  private double[] empty = new double[0];
  private long count;

  /**
   * The figures of a partition.
   *
   * @param rows number of rows of positive weight
   * @param width number of right-hand sides, 0 if there is no row
   * @param empty size width: norms of the right-hand sides of rows without entries
   */
  public record Part(int partition, long rows, int width, double[] empty) implements Serializable {}

  /**
   * Routes the right-hand sides of a partition.
   *
   * @param weighted whether they are multiplied by sqrt(weight), as the rows are
   */
  public RhsRouter(SolvePlan plan, int partition, Iterator<SparseRow> rows, boolean weighted) {
    super(plan, partition, rows, false);
    if (!weighted) {
      reader.keepLabels();
    }
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
