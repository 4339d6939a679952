/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.solve;

import io.sparqr.configuration.Keys;
import io.sparqr.spark.plan.Fingerprint;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.resource.Engine;
import io.sparqr.spark.resource.Exchange;

/**
 * The rows of A in compact arrays, left by the first pass over them where all tasks are in the
 * driver's JVM, so that later passes take only the right-hand sides from Spark, or nothing at all:
 * 12 bytes an entry and 4 a row (12 with weights), at most a share of the heap. Without room there
 * are none, and every pass reads the rows.
 */
public final class RowCopies implements AutoCloseable {

  private final boolean room;

  /** By partition; null: not there. */
  private volatile RowCopy[] rows;

  private RowCopies(boolean room) {
    this.room = room;
  }

  /** Copies of a plan's rows, to be made if there is room. */
  public static RowCopies of(Engine engine, SolvePlan plan) {
    if (!Exchange.possible(engine)) {
      return new RowCopies(false);
    }
    Fingerprint all = plan.readings().total(plan.readings().partitions());
    int width = Math.max(1, plan.numbers().rhsCount());
    double bytes = 12.0 * all.nonzeros() + (12.0 + 8 * width) * all.rows();
    return new RowCopies(bytes <= Keys.ROW_COPY_SHARE.ofJvm() * Runtime.getRuntime().maxMemory());
  }

  /** Whether a pass may leave copies that are not there yet. */
  boolean wanted() {
    return room && rows == null;
  }

  /** Takes the copies of all partitions. */
  void put(RowCopy[] all) {
    rows = all;
  }

  /** The copies of all partitions; null: not there. */
  RowCopy[] rows() {
    return rows;
  }

  /** Drops all copies. */
  @Override
  public void close() {
    rows = null;
  }
}
