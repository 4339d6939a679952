/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

/**
 * The rule for spreading a tall front over workers ({@link ReductionFronts#spread}): blocks that
 * arrive beside the longest path are reduced to a triangle first, in a front of their own, if both
 * fronts are large and the tall one loses a good part of its work without much more work in all.
 *
 * @param flops a front of fewer flops is left alone, and so is one that would be made
 * @param share the same for a front of less than this share of all flops
 * @param relief least share of its work that the tall front loses
 * @param most flops of the new front over those that the tall front loses
 */
record Spread(double flops, double share, double relief, double most) {

  /**
   * 2 GFLOP, which take a core as long as a further level does, and a hundredth of all; a fifth of
   * the front's work; half as much work again as what it loses.
   */
  static final Spread DEFAULT = new Spread(2e9, 0.01, 0.2, 1.5);

  double leastFlops(double all) {
    return Math.max(flops, share * all);
  }

  /**
   * Whether the front is to be spread.
   *
   * @param before its flops
   * @param after its flops then
   * @param own flops of the new front
   */
  boolean relieves(double before, double after, double own) {
    double lost = before - after;
    return lost >= relief * before && own <= most * lost;
  }
}
