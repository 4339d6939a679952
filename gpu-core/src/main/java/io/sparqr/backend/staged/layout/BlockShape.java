/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged.layout;

import io.sparqr.numeric.ContributionBlock;

/**
 * The size of a contribution block that enters a stage, which is all that the stage's layout needs
 * of it.
 *
 * @param front the front it comes from
 * @param cm its rows
 * @param cn its columns
 * @param rhs right-hand sides carried along
 */
record BlockShape(int front, int cm, int cn, int rhs) {

  static BlockShape of(ContributionBlock b) {
    return new BlockShape(b.front(), b.cm(), b.cn(), b.rhsCount());
  }

  /** The number of values of the block in its packed form. */
  int values() {
    return Math.toIntExact(ContributionBlock.packedLength(cm, cn));
  }

  /** Packed values, then right-hand sides. */
  long doubles() {
    return values() + (long) cm * rhs;
  }
}
