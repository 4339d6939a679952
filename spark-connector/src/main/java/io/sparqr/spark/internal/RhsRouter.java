/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.internal;

import io.sparqr.spark.SparseRow;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.wire.ReportCodec;
import io.sparqr.spark.wire.RowBatchCodec;
import java.io.Serializable;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.NoSuchElementException;
import scala.Tuple2;

/**
 * The map side of further right-hand sides: what {@link RowRouter} does with rows, without their
 * entries. A row's weighted right-hand sides go to the task of its front, in the same order; those
 * of a singleton row to the driver with their position; the norm of rows without entries and a
 * {@link Part} too.
 */
final class RhsRouter implements Iterator<Tuple2<Integer, byte[]>> {

  private static final long BATCH_BYTES = 1 << 20;

  private final SolvePlan plan;
  private final int partition;
  private final Iterator<SparseRow> rows;
  private final RowReader reader;
  private final RowBatchCodec.Builder[] batch;
  private final ArrayDeque<Tuple2<Integer, byte[]>> ready = new ArrayDeque<>();
  private final int[] position = new int[1];
  private final double[] one = {1};
  private double[] empty = new double[0];
  private int sequence;
  private long count;
  private boolean ended;

  /**
   * What a partition had.
   *
   * @param rows that count
   * @param width right-hand sides, 0 if there was no row
   * @param empty size width: norms of the right-hand sides of rows without entries
   */
  record Part(int partition, long rows, int width, double[] empty) implements Serializable {}

  RhsRouter(SolvePlan plan, int partition, Iterator<SparseRow> rows) {
    this.plan = plan;
    this.partition = partition;
    this.rows = rows;
    this.reader = new RowReader(partition, plan.analysis().columns());
    this.batch = new RowBatchCodec.Builder[plan.driverKey() + 1];
  }

  @Override
  public boolean hasNext() {
    while (ready.isEmpty() && !ended) {
      if (!rows.hasNext()) {
        end();
      } else if (reader.read(rows.next())) {
        route();
      }
    }
    return !ready.isEmpty();
  }

  @Override
  public Tuple2<Integer, byte[]> next() {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    return ready.poll();
  }

  private void route() {
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
    int key = front < 0 ? plan.driverKey() : plan.taskOf(front);
    if (batch[key] == null) {
      batch[key] = new RowBatchCodec.Builder(b.length);
    }
    position[0] = least;
    batch[key].add(front, position, one, 0, front < 0 ? 1 : 0, b, 0);
    if (batch[key].bytes() > BATCH_BYTES) {
      ready.add(new Tuple2<>(key, batch[key].take(partition, sequence++)));
    }
  }

  private void end() {
    ended = true;
    for (int key = 0; key < batch.length; key++) {
      if (batch[key] != null && batch[key].rows() > 0) {
        ready.add(new Tuple2<>(key, batch[key].take(partition, sequence++)));
        batch[key] = null;
      }
    }
    int width = Math.max(0, reader.rhsCount());
    double[] norms = empty.length == width ? empty : new double[width];
    ready.add(
        new Tuple2<>(
            plan.driverKey(), ReportCodec.encode(new Part(partition, count, width, norms))));
  }
}
