/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.lowrank;

/** How principal component pursuit is solved; the solution is the same. */
public enum PursuitMethod {

  /**
   * Inexact augmented Lagrangians (Lin, Chen, Ma 2010, algorithm 5): the penalty mu grows by half
   * whenever L and S are nearer to the optimum than to adding up to M. Some 20 to 30 iterations,
   * and with noise a hundred or more.
   */
  INEXACT_ALM,

  /**
   * Alternating directions with a constant mu (Candes, Li, Ma, Wright 2011, algorithm 1): what the
   * paper on communication-avoiding QR iterates. Some hundred iterations, for comparison.
   */
  ADM
}
