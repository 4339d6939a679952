/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.rows;

import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.wire.ChangeCodec;
import io.sparqr.spark.wire.RowBatchCodec;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Optional;
import scala.Tuple2;

/**
 * The map side of a shuffle to the tasks: reads a partition's rows, checked and weighted, and
 * returns the output of subclasses in batches of about 1 MB by key, numbered in order. The key of a
 * front is its task; everything else has the driver's key. If the rows differ from those of the
 * first reading, every key receives the error at the end, both in the first run of the map stage
 * and in a later one for lost outputs, and the batches before it are discarded.
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
   * Reads the rows of a partition.
   *
   * @param labels whether the right-hand sides must be those of the first reading
   */
  RowShuffle(SolvePlan plan, int partition, Iterator<SparseRow> rows, boolean labels) {
    this(plan, partition, rows, labels, Optional.empty());
  }

  /**
   * As above, or if the first reading left its rows, these.
   *
   * @param left the rows, as far as they are there
   */
  RowShuffle(
      SolvePlan plan,
      int partition,
      Iterator<SparseRow> rows,
      boolean labels,
      Optional<HeldRows.Left> left) {
    this.plan = plan;
    this.partition = partition;
    this.reader = new RowReader(partition, plan.analysis().columns());
    this.rows =
        left.map(p -> new LaterReading(reader, partition, p))
            .orElseGet(() -> new LaterReading(reader, partition, rows, plan.readings(), labels));
    this.batch = new RowBatchCodec.Builder[plan.driverKey() + 1];
  }

  /** Sends the data for the reader's current row, which has positive weight. */
  abstract void route();

  /** Sends the data known only after the last row. */
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

  /** False if a row does not fit the plan because the reading differs. */
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

  /** Number of right-hand sides of the rows sent. */
  abstract int width();
}
