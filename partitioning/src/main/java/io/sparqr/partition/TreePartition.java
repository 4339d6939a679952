/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.partition;

import io.sparqr.sparse.CompactLongs;
import java.io.Serializable;
import java.util.List;

/**
 * The cut of an assembly tree into subtree tasks by levels. Every front is in exactly one task;
 * contribution blocks go only to tasks of higher levels.
 *
 * @param tasks by id; ids ascend with the level
 * @param levels number of levels
 * @param taskOfFront size nf; the task that owns the front, in one byte if there are few tasks
 * @param estimatedSeconds makespan predicted by the model
 * @param lowerBoundSeconds the larger of total work over all rates and the critical path over the
 *     best rate
 */
public record TreePartition(
    List<SubtreeTask> tasks,
    int levels,
    CompactLongs taskOfFront,
    double estimatedSeconds,
    double lowerBoundSeconds)
    implements Serializable {

  /** Copies the list. */
  public TreePartition {
    tasks = List.copyOf(tasks);
  }

  /** As above, with the tasks of the fronts as an array. */
  public TreePartition(
      List<SubtreeTask> tasks,
      int levels,
      int[] taskOfFront,
      double estimatedSeconds,
      double lowerBoundSeconds) {
    this(
        tasks,
        levels,
        CompactLongs.of(taskOfFront.length, f -> taskOfFront[f]),
        estimatedSeconds,
        lowerBoundSeconds);
  }

  /**
   * A copy for other workers.
   *
   * @param workers the new number of each worker
   */
  public TreePartition onto(int... workers) {
    var moved = tasks.stream().map(t -> t.onto(workers[t.worker()])).toList();
    return new TreePartition(moved, levels, taskOfFront, estimatedSeconds, lowerBoundSeconds);
  }

  /** The task that owns a front. */
  public int taskOf(int front) {
    return (int) taskOfFront.get(front);
  }

  /** The tasks of one level, by id. */
  public List<SubtreeTask> level(int level) {
    return tasks.stream().filter(t -> t.level() == level).toList();
  }
}
