/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.partition;

import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;

/**
 * The cut of a tree, with its tall fronts spread ({@link SymbolicAnalyzer#spread}) if there are
 * several CPU workers and that is foretold to be faster.
 *
 * @param analysis the tree that was cut: the given one, or that with its tall fronts spread
 * @param partition the cut
 * @param rowSeconds of the rows before the factorization, see {@link RowCost}; none on devices
 */
public record SpreadCut(SymbolicAnalysis analysis, TreePartition partition, double rowSeconds) {

  /** What spreading has to gain. */
  public static final double LEAST_GAIN = 1.05;

  /**
   * The better one of both cuts.
   *
   * @param options as for a solve; without a number of partitions in which rows are combined, each
   *     CPU worker has two
   */
  public static SpreadCut of(
      SymbolicAnalysis analysis, ResourceModel resources, PartitionOptions options) {
    boolean host = onlyProcessors(resources);
    int workers = resources.workers().size();
    boolean assumed = host && options.combinedParts() == 0;
    PartitionOptions own = assumed ? options.withCombinedParts(2 * workers) : options;
    SpreadCut given = cut(analysis, resources, own, host);
    if (!host || workers == 1) {
      return given;
    }
    return SymbolicAnalyzer.spread(analysis)
        .map(spread -> cut(spread, resources, own, true))
        .filter(other -> pays(other.partition, given.partition))
        .orElse(given);
  }

  private static SpreadCut cut(
      SymbolicAnalysis s, ResourceModel resources, PartitionOptions options, boolean host) {
    double rows = host ? RowCost.of(s, options).seconds(resources) : 0;
    return new SpreadCut(s, TreePartitioner.partition(s, resources, options), rows);
  }

  /** Whether no worker is a device. */
  public static boolean onlyProcessors(ResourceModel resources) {
    return resources.workers().stream().noneMatch(ResourceModel.Worker::device);
  }

  /** Whether the cut of the spread tree is faster by enough than that of the given one. */
  public static boolean pays(TreePartition spread, TreePartition given) {
    return LEAST_GAIN * spread.estimatedSeconds() <= given.estimatedSeconds();
  }

  /** Estimated seconds of the executors: of the rows and the factorization. */
  public double seconds() {
    return rowSeconds + partition.estimatedSeconds();
  }
}
