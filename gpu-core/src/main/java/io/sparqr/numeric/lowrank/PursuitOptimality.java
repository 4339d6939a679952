/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.lowrank;

/**
 * How far L and S are from the optimum of min ||L||_* + lambda ||S||_1, L + S = M. They are optimal
 * if the residual is 0 and a dual Y with ||Y||_2 at most 1 and max |Y| at most lambda has &lt;M,
 * Y&gt; equal to the objective (Candes, Li, Ma, Wright 2011, section 2): whatever Y is, &lt;M,
 * Y&gt; over the larger of ||Y||_2 and max |Y| / lambda bounds the optimum from below.
 *
 * @param residual ||M - L - S||_F / ||M||_F
 * @param dualNorm ||Y||_2 of the last multiplier, to be compared with 1
 * @param dualMaximum max |Y|, to be compared with lambda
 * @param lambda the weight of the sparse part
 * @param objective ||L||_* + lambda ||S||_1, in units of M
 * @param gap objective less the bound, relative to the objective; as L + S is M only to the
 *     residual it may be a little less than 0
 */
public record PursuitOptimality(
    double residual,
    double dualNorm,
    double dualMaximum,
    double lambda,
    double objective,
    double gap) {}
