/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.partition;

import java.io.Serializable;

/**
 * The work of one Spark task: a set of fronts, each connected part of which is a subtree of the
 * assembly tree with lower subtrees cut off.
 *
 * @param id 0 .. tasks-1, ascending with the level
 * @param level 0 for tasks without contribution blocks from other tasks; otherwise one more than
 *     the highest level among the senders
 * @param fronts ascending (postorder)
 * @param inputs roots of other tasks whose contribution blocks this task receives, ascending
 * @param outputs fronts of this task whose parent is in another task, ascending
 * @param worker index of its planned worker in the resource model
 * @param flops work
 * @param peakBytes peak memory of the factorization: on CPUs rows, fronts and contribution blocks,
 *     on a device fronts and blocks
 * @param hostBytes peak heap: on CPUs the same; for a device's task rows and blocks; R is outside
 *     the heap
 */
public record SubtreeTask(
    int id,
    int level,
    int[] fronts,
    int[] inputs,
    int[] outputs,
    int worker,
    double flops,
    long peakBytes,
    long hostBytes)
    implements Serializable {

  /** A copy for another worker. */
  SubtreeTask onto(int other) {
    return new SubtreeTask(id, level, fronts, inputs, outputs, other, flops, peakBytes, hostBytes);
  }
}
