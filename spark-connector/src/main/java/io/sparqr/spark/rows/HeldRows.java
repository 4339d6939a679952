/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.rows;

import io.sparqr.spark.plan.Fingerprint;
import io.sparqr.spark.plan.Readings;
import io.sparqr.spark.resource.ByteBudget;
import io.sparqr.spark.resource.Engine;
import io.sparqr.spark.resource.Exchange;
import java.io.Serializable;
import java.util.Optional;

/**
 * Rows that the first reading leaves in the JVM in which all tasks run, so that they need not be
 * read again to be sent to the tasks of their fronts. Partitions beyond a limit are read again, as
 * all are without this. Each carries the fingerprint of its reading: what a straggler left of
 * another reading than the one that counts is not used. Thread-safe.
 */
public final class HeldRows implements AutoCloseable, Serializable {

  private static final long serialVersionUID = 1;

  private final Exchange exchange;

  /** The rows of a partition. */
  record Left(ParsedRows rows, RowRhs rhs) {}

  /** Holds rows, as far as there is room, until it is closed. */
  HeldRows(ByteBudget room) {
    this.exchange = new Exchange(room);
  }

  /**
   * A place for rows in {@link ParsedRows#ROOM}; empty if tasks do not run in this JVM, or there is
   * no such room.
   */
  public static Optional<HeldRows> of(Engine engine) {
    return ParsedRows.ROOM.most() > 0 && Exchange.possible(engine)
        ? Optional.of(new HeldRows(ParsedRows.ROOM))
        : Optional.empty();
  }

  /** Collects the rows of a partition while they are read, to be left by {@link #leave}. */
  public RowCollector collector(int partition) {
    return RowCollector.unweighted(exchange, partition);
  }

  /**
   * Leaves collected rows, unless there was no room for all.
   *
   * @param fingerprint of their reading
   */
  public static void leave(RowCollector collected, Fingerprint fingerprint) {
    if (collected.complete()) {
      collected.leave(new Left(collected.rows(fingerprint), collected.rhs()));
    }
  }

  /** The rows of a partition, if they are held and of the reading that counts. */
  Optional<Left> rows(int partition, Readings readings) {
    return exchange
        .find(partition, Left.class)
        .filter(r -> readings.change(partition, r.rows.fingerprint(), true).isEmpty());
  }

  /** Bytes held or being collected. */
  long bytes() {
    return exchange.bytes();
  }

  /** Drops all; idempotent. */
  @Override
  public void close() {
    exchange.close();
  }
}
