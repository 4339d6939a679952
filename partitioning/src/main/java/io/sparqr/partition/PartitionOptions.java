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
 */
public record PartitionOptions(
    int tasksPerWorker, int maxLevels, int minLevels, double minTaskFlops) implements Serializable {

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
