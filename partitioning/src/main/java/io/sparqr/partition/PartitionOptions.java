/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.partition;

import java.io.Serializable;

/**
 * Options of the tree's cut.
 *
 * @param tasksPerWorker leaf tasks aimed at for each worker, for balance; default 2
 * @param maxLevels most levels of the task tree; default 4
 * @param minLevels least levels, where the tree is deep enough (tests force several); default 1
 * @param minTaskFlops work under which a subtree is not worth a task of its own; default 2e8
 * @param combinedParts partitions in each of which the rows of a front are combined when they are
 *     more than it takes; 0, the default: rows come as they are
 */
public record PartitionOptions(
    int tasksPerWorker, int maxLevels, int minLevels, double minTaskFlops, int combinedParts)
    implements Serializable {

  /** Rows come as they are. */
  public PartitionOptions(int tasksPerWorker, int maxLevels, int minLevels, double minTaskFlops) {
    this(tasksPerWorker, maxLevels, minLevels, minTaskFlops, 0);
  }

  /** The same where rows are combined in so many partitions. */
  public PartitionOptions withCombinedParts(int parts) {
    return new PartitionOptions(tasksPerWorker, maxLevels, minLevels, minTaskFlops, parts);
  }

  /** Checks the ranges. */
  public PartitionOptions {
    if (tasksPerWorker < 1 || minLevels < 1 || maxLevels < minLevels || minTaskFlops < 0) {
      throw new IllegalArgumentException("partition options out of range");
    }
  }

  /** 2 tasks a worker, 1 to 4 levels, 2e8 flops. */
  public static PartitionOptions defaults() {
    return new PartitionOptions(2, 4, 1, 2e8);
  }
}
