/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.pattern;

import io.sparqr.spark.engine.JobScope;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.rows.HeldRows;
import io.sparqr.spark.rows.RowSource;
import io.sparqr.spark.wire.ObjectCodec;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;

/**
 * The pass within one JVM: one Spark job of one stage, whose tasks hand their tables to the driver
 * ({@link HandOver}). Nothing is encoded, sorted or sent by the tasks; the driver merges the tables
 * with all its threads.
 */
final class HandedPass {

  /** Of all partitions together, which are merged in arrays of that length. */
  private static final int MOST_PATTERNS = Integer.MAX_VALUE - 8;

  private HandedPass() {}

  /**
   * What a task returns.
   *
   * @param number in the hand-over, or {@link HandOver#REFUSED}
   * @param stats null if the task did not read its rows
   */
  private record Receipt(long number, PartitionStats stats) implements Serializable {}

  /**
   * All partitions' results, in the order of the partitions.
   *
   * @param patterns of each; none if they are not distinguished
   */
  record Handed(
      List<PartitionStats> stats, List<DistinctPatterns> patterns, List<ColumnChunks> norms) {}

  /**
   * Reads the rows.
   *
   * @param declared n, or -1 to take it from the rows
   * @param told whether to tell patterns apart
   * @param mostBytes of all that tasks hold for the driver
   * @param left where tasks leave the rows; null: nowhere
   * @return empty if it is more than that, so that it has to go another way
   */
  static Optional<Handed> run(
      RowSource source, int declared, boolean told, long mostBytes, HeldRows left) {
    try (var handOver = new HandOver(mostBytes)) {
      List<byte[]> receipts =
          JobScope.run(
              source.engine(),
              "pattern and column norms",
              () ->
                  source
                      .parts()
                      .map(
                          (p, rows) ->
                              scan(handOver, new PartitionScan(p, declared, told, left), rows))
                      .named("sparqr pattern and column norms")
                      .collect());
      if (handOver.over()) {
        // also what was accepted before is gone
        return Optional.empty();
      }
      var stats = new ArrayList<PartitionStats>();
      var patterns = new ArrayList<DistinctPatterns>();
      var norms = new ArrayList<ColumnChunks>();
      long count = 0;
      for (byte[] frame : receipts) {
        Receipt receipt = ObjectCodec.decode(frame, Receipt.class);
        HandOver.Found found = handOver.get(receipt.number);
        stats.add(receipt.stats);
        patterns.add(found.patterns());
        norms.add(found.norms());
        count += found.patterns().count();
      }
      return count > MOST_PATTERNS
          ? Optional.empty()
          : Optional.of(new Handed(stats, patterns, norms));
    }
  }

  private static Iterator<byte[]> scan(
      HandOver handOver, PartitionScan scan, Iterator<SparseRow> rows) {
    Receipt receipt = new Receipt(HandOver.REFUSED, null);
    if (!handOver.over()) {
      PartitionStats stats = scan.run(rows);
      var found = new HandOver.Found(scan.table().distinct(), scan.norms());
      receipt = new Receipt(handOver.put(found), stats);
    }
    return List.of(ObjectCodec.encode(receipt)).iterator();
  }
}
