/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.rows;

import io.sparqr.spark.SparseRow;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.wire.ChangeCodec;
import io.sparqr.spark.wire.RowBatchCodec;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.NoSuchElementException;
import scala.Tuple2;

/**
 * The map side of a shuffle to the tasks: reads a partition's rows, checked and weighted, and hands
 * out what subclasses make of them, in batches of about 1 MB by key, numbered in the order of their
 * making. A front's key is its task, the driver's key that of everything else. Rows that are not
 * those of the first reading are nobody's: every key gets the error at the end, whether this is the
 * map stage's first run or one for lost outputs later, and nothing is made of what came before it.
 */
abstract class RowShuffle implements Iterator<Tuple2<Integer, byte[]>> {

  private static final long BATCH_BYTES = 1 << 20;

  final SolvePlan plan;
  final int partition;
  final RowReader reader;
  private final LaterReading rows;
  private final RowBatchCodec.Builder[] batch;
  private final ArrayDeque<Tuple2<Integer, byte[]>> ready = new ArrayDeque<>();
  private int sequence;
  private boolean ended;

  /**
   * The rows of a partition.
   *
   * @param labels whether the right-hand sides are those of the first reading
   */
  RowShuffle(SolvePlan plan, int partition, Iterator<SparseRow> rows, boolean labels) {
    this.plan = plan;
    this.partition = partition;
    this.reader = new RowReader(partition, plan.analysis().columns());
    this.rows = new LaterReading(reader, partition, rows, plan.readings(), labels);
    this.batch = new RowBatchCodec.Builder[plan.driverKey() + 1];
  }

  /** Sends what has to be sent of the reader's row, whose weight is not 0. */
  abstract void route();

  /** Sends what is known only after the last row. */
  abstract void flush();

  @Override
  public final boolean hasNext() {
    while (ready.isEmpty() && !ended) {
      if (!rows.next() || !routed()) {
        end();
      }
    }
    return !ready.isEmpty();
  }

  @Override
  public final Tuple2<Integer, byte[]> next() {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    return ready.poll();
  }

  /** False where a row does not fit the plan, being another one. */
  private boolean routed() {
    try {
      route();
      return true;
    } catch (RuntimeException e) {
      if (!rows.isAnother()) {
        throw e;
      }
      return false;
    }
  }

  private void end() {
    ended = true;
    if (rows.changed().isPresent()) {
      byte[] change = ChangeCodec.encode(rows.changed().get());
      ready.clear();
      for (int key = 0; key < batch.length; key++) {
        ready.add(new Tuple2<>(key, change));
        batch[key] = null;
      }
      return;
    }
    flush();
    for (int key = 0; key < batch.length; key++) {
      if (batch[key] != null && batch[key].rows() > 0) {
        ready.add(new Tuple2<>(key, batch[key].take(partition, sequence++)));
        batch[key] = null;
      }
    }
  }

  /** Sends a row; front -1: to the driver. */
  final void send(
      int front, int[] position, double[] value, int from, int count, double[] b, int bFrom) {
    int key = front < 0 ? plan.driverKey() : plan.taskOf(front);
    if (batch[key] == null) {
      batch[key] = new RowBatchCodec.Builder(width());
    }
    batch[key].add(front, position, value, from, count, b, bFrom);
    if (batch[key].bytes() > BATCH_BYTES) {
      ready.add(new Tuple2<>(key, batch[key].take(partition, sequence++)));
    }
  }

  /** Sends a frame to the driver. */
  final void sendToDriver(byte[] frame) {
    ready.add(new Tuple2<>(plan.driverKey(), frame));
  }

  /** Right-hand sides of the rows that are sent. */
  abstract int width();
}
