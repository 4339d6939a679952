/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.internal;

import io.sparqr.spark.SparseRow;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.wire.RowBatchCodec;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.NoSuchElementException;
import scala.Tuple2;

/**
 * The map side of the row shuffle: weighted, equilibrated rows in positions, keyed by the task that
 * owns the front of their least position, in batches of about 1 MB. Singleton rows (front -1) go to
 * the driver's key; rows without entries and the residual parts of the combine are one row without
 * entries there, whose right-hand side is their norm.
 */
final class RowRouter implements Iterator<Tuple2<Integer, byte[]>> {

  private static final long BATCH_BYTES = 1 << 20;

  private final SolvePlan plan;
  private final int partition;
  private final Iterator<SparseRow> rows;
  private final RowReader reader;
  private final FrontCombiner combiner;
  private final RowBatchCodec.Builder[] batch;
  private final ArrayDeque<Tuple2<Integer, byte[]>> ready = new ArrayDeque<>();
  private final double[] empty;
  private final boolean[] combines;
  private int sequence;
  private boolean ended;

  RowRouter(SolvePlan plan, int partition, Iterator<SparseRow> rows) {
    this.plan = plan;
    this.partition = partition;
    this.rows = rows;
    this.reader = new RowReader(partition, plan.analysis().columns());
    this.batch = new RowBatchCodec.Builder[plan.driverKey() + 1];
    this.combiner = new FrontCombiner(plan, this::send);
    this.empty = new double[plan.numbers().rhsCount()];
    this.combines = new boolean[plan.analysis().fronts()];
    for (int f = 0; f < combines.length; f++) {
      combines[f] = !plan.numbers().keepQ() && FrontCombiner.worthwhile(plan, f);
    }
  }

  @Override
  public boolean hasNext() {
    while (ready.isEmpty() && !ended) {
      if (rows.hasNext()) {
        SparseRow row = rows.next();
        if (reader.read(row)) {
          route();
        }
      } else {
        end();
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
    int count = reader.count();
    int[] index = reader.index();
    double[] value = reader.value();
    double[] b = reader.rhs();
    for (int k = 0; k < b.length; k++) {
      b[k] *= plan.rhsScale(k);
    }
    if (count == 0) {
      for (int k = 0; k < b.length; k++) {
        empty[k] = Math.hypot(empty[k], b[k]);
      }
      return;
    }
    for (int k = 0; k < count; k++) {
      value[k] *= plan.columnScale(index[k]);
      index[k] = plan.position(index[k]);
    }
    SortedPairs.sort(index, value, count);
    int front = plan.frontOf(index[0]);
    if (front >= 0 && combines[front]) {
      combiner.add(front, index, value, count, b);
    } else {
      send(front, index, value, 0, count, b, 0);
    }
  }

  private void send(
      int front, int[] position, double[] value, int from, int count, double[] b, int bFrom) {
    int key = front < 0 ? plan.driverKey() : plan.taskOf(front);
    if (batch[key] == null) {
      batch[key] = new RowBatchCodec.Builder(plan.numbers().rhsCount());
    }
    batch[key].add(front, position, value, from, count, b, bFrom);
    if (batch[key].bytes() > BATCH_BYTES) {
      ready.add(new Tuple2<>(key, batch[key].take(partition, sequence++)));
    }
  }

  private void end() {
    ended = true;
    combiner.flush();
    boolean any = false;
    for (int k = 0; k < empty.length; k++) {
      empty[k] = Math.hypot(empty[k], combiner.residual()[k]);
      any |= empty[k] != 0;
    }
    if (any) {
      send(-1, new int[0], new double[0], 0, 0, empty, 0);
    }
    for (int key = 0; key < batch.length; key++) {
      if (batch[key] != null && batch[key].rows() > 0) {
        ready.add(new Tuple2<>(key, batch[key].take(partition, sequence++)));
        batch[key] = null;
      }
    }
  }
}
