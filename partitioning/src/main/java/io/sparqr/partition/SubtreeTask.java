/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.partition;

import java.io.Serializable;

/**
 * What one Spark task factors: a set of fronts, each connected part of it a subtree of the assembly
 * tree with lower subtrees cut off.
 *
 * @param id 0 .. tasks-1, ascending with the level
 * @param level 0 for tasks that take no contribution blocks from other tasks; otherwise one more
 *     than the highest level of the tasks that it takes from
 * @param fronts ascending (postorder)
 * @param inputs roots of other tasks whose contribution blocks come in, ascending
 * @param outputs fronts of this task whose parent is in another task, ascending
 * @param worker index of the worker it is planned for in the resource model
 * @param flops work
 * @param peakBytes most bytes alive at once where it is factored: on CPUs rows, fronts,
 *     contribution blocks and R, on a device fronts and blocks
 * @param hostBytes most heap that it takes: on CPUs the same; of a device's task rows, blocks and R
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
    implements Serializable {}
