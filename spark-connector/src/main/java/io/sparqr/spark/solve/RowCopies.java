/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.solve;

import io.sparqr.spark.engine.Engine;
import io.sparqr.spark.exchange.Exchange;
import io.sparqr.spark.plan.Fingerprint;
import io.sparqr.spark.plan.Readings;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.rows.ParsedRows;
import io.sparqr.spark.rows.RowCollector;
import java.lang.ref.Cleaner;
import java.util.List;

/**
 * The rows of A, left by the first pass over them where all tasks are in the driver's JVM, so that
 * later passes take only the right-hand sides from Spark, or nothing at all: {@link ParsedRows},
 * and room for one solve's right-hand sides, within {@link ParsedRows#ROOM}. Without room there are
 * none, and every pass reads the rows. Thread-safe.
 */
public final class RowCopies implements AutoCloseable {

  /** No copies, and none wanted. */
  public static final RowCopies NONE = new RowCopies(Double.POSITIVE_INFINITY);

  private static final Cleaner CLEANER = Cleaner.create();

  private final double expectedBytes;

  /** Whether there are to be none, because there was no room for all, or at the end. */
  private volatile boolean over;

  /** The copies by partition; null before all are there. */
  private volatile Exchange kept;

  private int partitions;

  /**
   * The rows of a partition.
   *
   * @param frobenius norm of the values
   */
  record Copy(ParsedRows rows, double frobenius) {}

  RowCopies(double expectedBytes) {
    this.expectedBytes = expectedBytes;
  }

  /** Copies of a plan's rows, to be made if there is room. */
  public static RowCopies of(Engine engine, SolvePlan plan) {
    if (!engine.sharesObjects()) {
      return NONE;
    }
    Fingerprint all = plan.readings().total(plan.readings().partitions());
    int width = Math.max(1, plan.numbers().rhsCount());
    return new RowCopies(12.0 * all.nonzeros() + (12.0 + 8 * width) * all.rows());
  }

  /** Begins copies for a pass to leave; null if they are there already, or there is no room. */
  Making begin() {
    return over || kept != null || expectedBytes > ParsedRows.ROOM.left() ? null : new Making();
  }

  /** Copies that the tasks of a pass are making; given up at its end unless all are there. */
  final class Making implements AutoCloseable {
    private final Exchange exchange = new Exchange(ParsedRows.ROOM);

    private Making() {}

    /** Where tasks leave them, each a {@link Copy} under its partition's number. */
    Exchange exchange() {
      return exchange;
    }

    /**
     * Takes them.
     *
     * @param found the copies of all partitions, null for one without room
     * @return whether they are taken; not if another pass came first
     */
    boolean complete(List<Copy> found) {
      for (int p = 0; p < found.size(); p++) {
        Copy copy = found.get(p);
        if (copy == null) {
          over = true;
        }
        // A repeated task may have left another one than that of the figures found.
        if (copy == null || exchange.find(p, Copy.class).orElse(null) != copy) {
          return false;
        }
      }
      return keep(exchange, found.size());
    }

    @Override
    public void close() {
      if (kept != exchange) {
        exchange.close();
      }
    }
  }

  private synchronized boolean keep(Exchange made, int count) {
    if (over || kept != null) {
      return false;
    }
    // A factorization that is never closed must not take the room of others for ever.
    CLEANER.register(this, made::close);
    partitions = count;
    kept = made;
    return true;
  }

  /**
   * Collects the rows of a partition in a task.
   *
   * @param exchange of {@link Making}; null leads to null
   * @param readings the numbers of rows and entries to be expected; null if they are not known
   */
  static RowCollector collector(Exchange exchange, int partition, Readings readings) {
    if (exchange == null) {
      return null;
    }
    boolean known = readings != null && partition < readings.partitions();
    return RowCollector.weighted(
        exchange, partition, known ? readings.of(partition) : Fingerprint.ofNothing());
  }

  /** The copies of all partitions; null: not there. */
  Copy[] rows() {
    Exchange from = kept;
    if (from == null) {
      return null;
    }
    var all = new Copy[partitions];
    for (int p = 0; p < all.length; p++) {
      all[p] = from.find(p, Copy.class).orElse(null);
      if (all[p] == null) {
        return null;
      }
    }
    return all;
  }

  /** Drops all copies. */
  @Override
  public synchronized void close() {
    over = true;
    if (kept != null) {
      kept.close();
    }
  }
}
