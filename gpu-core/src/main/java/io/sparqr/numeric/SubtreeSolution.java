/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

/**
 * The solution of R x = Q'b computed where R was made, in place of R itself.
 *
 * @param x size rank x (rhsCount + {@link Probe#COUNT}): x at the task's pivots, all live, in their
 *     order, then the solution for the {@link Probe}
 * @param rank pivots
 * @param entries entries of R
 */
public record SubtreeSolution(double[] x, int rank, long entries) {}
