/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.lowrank;

/**
 * What an iteration reached.
 *
 * @param number from 1 on
 * @param residual ||M - L - S||_F / ||M||_F
 * @param change by which the multiplier's entries still differ from those that S belongs to, the
 *     root of their mean square in units of lambda: the dual residual
 * @param rank of L
 * @param nonzeros of S
 * @param mu the penalty, in units of 1 / M
 */
public record PursuitIteration(
    int number, double residual, double change, int rank, long nonzeros, double mu) {}
