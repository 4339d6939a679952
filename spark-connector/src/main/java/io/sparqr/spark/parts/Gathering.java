/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.parts;

import java.util.Optional;

/**
 * A pass whose tasks find something for the driver.
 *
 * @param what name of the pass for Spark's pages
 * @param merged name of the second stage, if there is one
 * @param figures of a partition
 * @param pieces of the tables
 * @param shuffled run before the reading after which pieces are shuffled, perhaps the second one
 */
public record Gathering<F extends Record & OfPartition, V>(
    String what,
    String merged,
    Class<F> figures,
    Pieces<V> pieces,
    Limits limits,
    Runnable shuffled) {

  /**
   * Sizes of transfers.
   *
   * @param tableBytes of all tables together, as far as they may come as they are; 0: they never do
   * @param keys number of keys by which tables are cut
   * @param eagerBytes merged frames of a key up to this size are sent along with the counts,
   *     without a further job
   * @param batchBytes the frames of several keys are fetched together up to this size; they are
   *     then on the driver twice
   */
  public record Limits(long tableBytes, int keys, long eagerBytes, long batchBytes) {}

  /**
   * Runs it. Where the tasks share the driver's objects, and their tables take no more than they
   * may together, these come as they are; else their pieces meet in a shuffle, and the rows are
   * perhaps read once more. The result is the same, to the bit.
   */
  public <T> Gathered<F, V> of(Parts<T> parts, PassWork<T, F, V> work) {
    Optional<Gathered<F, V>> here =
        limits.tableBytes > 0 ? GatheredHere.of(this, parts, work) : Optional.empty();
    return here.orElseGet(
        () -> {
          shuffled.run();
          return new GatheredPieces<>(this, parts, work);
        });
  }
}
