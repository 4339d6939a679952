/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.partition;

import java.io.Serializable;

/**
 * Options of the tree's cut.
 *
 * @param tasksPerWorker target number of leaf tasks per worker, for balance; default 2
 * @param maxLevels maximum levels of the task tree; default 4
 * @param minLevels minimum levels if the tree is deep enough (tests force several); default 1
 * @param minTaskFlops a subtree with less work gets no separate task; default 2e8
 * @param combinedParts number of partitions that each combine the rows of a front into a triangle
 *     if that shrinks them; 0, the default: rows are not combined
 */
public record PartitionOptions(
    int tasksPerWorker, int maxLevels, int minLevels, double minTaskFlops, int combinedParts)
    implements Serializable {

  /** Options without combined rows. */
  public PartitionOptions(int tasksPerWorker, int maxLevels, int minLevels, double minTaskFlops) {
    this(tasksPerWorker, maxLevels, minLevels, minTaskFlops, 0);
  }

  /** A copy for rows that are combined in this many partitions. */
  public PartitionOptions withCombinedParts(int parts) {
    return new PartitionOptions(tasksPerWorker, maxLevels, minLevels, minTaskFlops, parts);
  }

  /** Checks the ranges. */
  public PartitionOptions {
    if (tasksPerWorker < 1 || minLevels < 1 || maxLevels < minLevels || minTaskFlops < 0) {
      throw new IllegalArgumentException("partition options out of range");
    }
  }

  /** 2 tasks per worker, 1 to 4 levels, 2e8 flops. */
  public static PartitionOptions defaults() {
    return new PartitionOptions(2, 4, 1, 2e8);
  }
}
