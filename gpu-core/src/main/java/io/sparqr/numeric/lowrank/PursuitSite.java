/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.lowrank;

/**
 * Where M, S and Y stay while {@link DensePursuit} iterates: a device, say. What an iteration does
 * is {@link PursuitState}'s. For one thread.
 */
public interface PursuitSite extends AutoCloseable {

  /**
   * R of M times a power of two, n x n, column-major. 2 m n^2 flops.
   *
   * @param scale brings M's largest value near 1
   */
  double[] reduced(double scale);

  /** Makes S and Y before the first iteration; returns the SVD of W. */
  RightSvd begin(PursuitStart start);

  /**
   * An iteration.
   *
   * @param tally of it
   * @param w of the next W
   */
  record Iterated(PursuitTally tally, RightSvd w) {}

  /** Makes the next iteration. 4 m n^2 flops. */
  Iterated advance(PursuitStep step);

  /**
   * S and Y as the last iteration found them.
   *
   * @param s receives S, m x n, row-major
   * @param y receives Y
   */
  void before(double[] s, double[] y);

  /** What the report calls it. */
  String description();

  @Override
  void close();
}
