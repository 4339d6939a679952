/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.partition;

import java.io.Serializable;
import java.util.List;

/**
 * What the tree is cut for: the workers (one task slot group or one device each) and the network
 * between them.
 *
 * @param workers at least one
 * @param networkBytesPerSecond bandwidth between two workers
 * @param levelSeconds fixed cost of a level: a Spark stage, its shuffle's latency included
 */
public record ResourceModel(List<Worker> workers, double networkBytesPerSecond, double levelSeconds)
    implements Serializable {

  /**
   * One place where a subtree task can run.
   *
   * @param name as in reports, such as "executor 3" or "executor 3, device 1"
   * @param flopsPerSecond rate on large fronts
   * @param memoryBytes what a task may hold at once
   * @param device whether it is a GPU
   */
  public record Worker(String name, double flopsPerSecond, long memoryBytes, boolean device)
      implements Serializable {}

  /** Copies the list and checks the rates. */
  public ResourceModel {
    workers = List.copyOf(workers);
    if (workers.isEmpty() || networkBytesPerSecond <= 0 || levelSeconds < 0) {
      throw new IllegalArgumentException("a resource model needs workers and positive rates");
    }
  }

  /** count CPU workers of equal rate and memory; 1 GB/s network, 0.1 s a level. */
  public static ResourceModel uniform(int count, double flopsPerSecond, long memoryBytes) {
    var list = new java.util.ArrayList<Worker>();
    for (int i = 0; i < count; i++) {
      list.add(new Worker("worker " + i, flopsPerSecond, memoryBytes, false));
    }
    return new ResourceModel(list, 1e9, 0.1);
  }
}
