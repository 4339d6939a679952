/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.partition;

import io.sparqr.symbolic.SymbolicAnalysis;

/**
 * What the rows of A cost the executors before the factorization: the first reading, for patterns
 * and norms, and the second, in which rows are sent to the tasks of their fronts and combined where
 * they are many. All workers share in both.
 *
 * @param entries of A
 * @param flops of the reductions of combined rows
 */
public record RowCost(double entries, double flops) {

  /**
   * Work on an entry in both readings, in bytes at a worker's rate of assembling fronts: 0.15 us at
   * 4 GB/s.
   */
  private static final double BYTES_OF_ENTRY = 600;

  /** The rows of an analyzed matrix, combined as the options say. O(nf) and the combined fronts. */
  public static RowCost of(SymbolicAnalysis analysis, PartitionOptions options) {
    return new RowCost(
        analysis.nonzeros(), new TreeCost(analysis, 1, true, options.combinedParts()).combineFlops);
  }

  /** Seconds of the rows on these workers. */
  public double seconds(ResourceModel resources) {
    double flopRate = 0;
    double byteRate = 0;
    for (ResourceModel.Worker w : resources.workers()) {
      flopRate += w.flopsPerSecond();
      byteRate += w.bytesPerSecond();
    }
    return flops / flopRate + BYTES_OF_ENTRY * entries / byteRate;
  }
}
