/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.rows;

import io.sparqr.spark.engine.Engine;
import io.sparqr.spark.exchange.Depot;
import io.sparqr.spark.exchange.Exchange;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.parts.Parts;
import io.sparqr.spark.plan.Fingerprint;
import io.sparqr.spark.plan.Readings;
import java.io.Serializable;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Rows that the first reading leaves in the JVMs of its tasks, so that they need not be read again
 * to be sent to the tasks of their fronts. Partitions beyond a limit, and those whose task comes to
 * another JVM, are read again, as all are without this. Each carries the fingerprint of its
 * reading: what a straggler left of another reading than the one that counts is not used.
 * Thread-safe.
 *
 * <p>Copies for later right-hand sides ({@code RowCopies}) are kept in the same form and room, but
 * not here: they have weights, rows of weight 0 and norms, live as long as the factorization, and
 * serve only if all partitions are there.
 */
public final class HeldRows implements AutoCloseable, Serializable {

  private static final long serialVersionUID = 1;

  private final Depot depot;

  /** The rows of a partition. */
  record Left(ParsedRows rows, RowRhs rhs) {}

  /** Holds rows in a depot until this is closed. */
  HeldRows(Depot depot) {
    this.depot = depot;
  }

  /** A place for rows in {@link ParsedRows#room} of each JVM; empty if there can be none. */
  public static Optional<HeldRows> of(Engine engine) {
    return Depot.of(engine, "sparqr rows of the first reading", () -> ParsedRows.room())
        .map(HeldRows::new);
  }

  /** The same, only if the JVM is this one for all tasks. */
  public static Optional<HeldRows> here(Engine engine) {
    return ParsedRows.room().most() > 0
        ? Exchange.of(engine, ParsedRows.room()).map(HeldRows::new)
        : Optional.empty();
  }

  /** Collects the rows of a partition while they are read, to be left by {@link #leave}. */
  public RowCollector collector(int partition) {
    return RowCollector.unweighted(depot, partition);
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

  /**
   * The rows to be read where none are held, by tasks that prefer to run where some are.
   *
   * @param readings of the rows
   */
  public Parts<SparseRow> near(Parts<SparseRow> rows, Readings readings) {
    return rows.near(depot, complete(readings, rows.count()));
  }

  /** The rows of a partition, if this JVM holds them and they are of the reading that counts. */
  Optional<Left> rows(int partition, Readings readings) {
    return depot
        .find(partition, Left.class)
        .filter(r -> readings.change(partition, r.rows.fingerprint(), true).isEmpty());
  }

  /** Whether this JVM holds the rows of all partitions, of the reading that counts. */
  private boolean complete(Readings readings, int partitions) {
    return IntStream.range(0, partitions).allMatch(p -> rows(p, readings).isPresent());
  }

  /** Drops all; idempotent. */
  @Override
  public void close() {
    depot.close();
  }
}
