/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.solve;

import io.sparqr.jvm.LostOwners;
import io.sparqr.spark.engine.Engine;
import io.sparqr.spark.exchange.Exchange;
import io.sparqr.spark.plan.Fingerprint;
import io.sparqr.spark.plan.Readings;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.rows.ParsedRows;
import io.sparqr.spark.rows.RowCollector;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The rows of A, left by the first pass over them where all tasks are in the driver's JVM, so that
 * later passes take only the right-hand sides from Spark, or nothing at all: {@link ParsedRows},
 * and room for one solve's right-hand sides, within {@link ParsedRows#room}. Without room there are
 * none, and every pass reads the rows. Thread-safe.
 */
public final class RowCopies implements AutoCloseable {

  private final Engine engine;
  private final double expectedBytes;

  /** Whether there are to be none, because there was no room for all, or at the end. */
  private volatile boolean over;

  /** The copies by partition, once all are there. */
  private volatile @Nullable Exchange kept;

  private int partitions;

  /**
   * The rows of a partition.
   *
   * @param frobenius norm of the values
   */
  record Copy(ParsedRows rows, double frobenius) {}

  RowCopies(double expectedBytes) {
    this(Engine.LOCAL, expectedBytes);
  }

  private RowCopies(Engine engine, double expectedBytes) {
    this.engine = engine;
    this.expectedBytes = expectedBytes;
  }

  /** No copies, and none wanted. */
  public static RowCopies none() {
    return new RowCopies(Double.POSITIVE_INFINITY);
  }

  /** Copies of a plan's rows, to be made if there is room. */
  public static RowCopies of(Engine engine, SolvePlan plan) {
    Fingerprint all = plan.readings().total(plan.readings().partitions());
    int width = Math.max(1, plan.numbers().rhsCount());
    return new RowCopies(engine, 12.0 * all.nonzeros() + (12.0 + 8 * width) * all.rows());
  }

  /**
   * Begins copies for a pass to leave, unless they are there already, there is no room, or tasks
   * are elsewhere.
   */
  @Nullable Making begin() {
    return over || kept != null || expectedBytes > ParsedRows.room().left()
        ? null
        : Exchange.of(engine, ParsedRows.room()).map(Making::new).orElse(null);
  }

  /** Copies that the tasks of a pass are making; given up at its end unless all are there. */
  final class Making implements AutoCloseable {
    private final Exchange exchange;

    private Making(Exchange exchange) {
      this.exchange = exchange;
    }

    /** Where tasks leave them, each a {@link Copy} under its partition's number. */
    Exchange exchange() {
      return exchange;
    }

    /**
     * Takes them.
     *
     * @param found the copies of all partitions, none for one without room
     * @return whether they are taken; not if another pass came first
     */
    @SuppressWarnings("ReferenceEquality") // the very copy that the figures are of
    boolean complete(List<@Nullable Copy> found) {
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
    // A factorization that nobody closes must not take the room of others for ever.
    LostOwners.whenLost(this, made::close);
    partitions = count;
    kept = made;
    return true;
  }

  /**
   * Collects the rows of a partition in a task.
   *
   * @param exchange of {@link Making}; without it there is no collector
   * @param readings the numbers of rows and entries to be expected, if they are known
   */
  static @Nullable RowCollector collector(
      @Nullable Exchange exchange, int partition, @Nullable Readings readings) {
    if (exchange == null) {
      return null;
    }
    Fingerprint expected =
        readings != null && partition < readings.partitions()
            ? readings.of(partition)
            : Fingerprint.ofNothing();
    return RowCollector.weighted(exchange, partition, expected);
  }

  /** The copies of all partitions, if they are there. */
  Copy @Nullable [] rows() {
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
