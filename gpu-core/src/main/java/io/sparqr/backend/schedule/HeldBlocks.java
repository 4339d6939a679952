/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

import io.sparqr.numeric.ContributionBlock;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.ArrayList;
import java.util.List;

/** Contribution blocks in host memory that no parent has taken yet, by front of the analysis. */
final class HeldBlocks {

  private final SymbolicAnalysis analysis;
  private final ContributionBlock[] block;

  HeldBlocks(SymbolicAnalysis analysis, List<ContributionBlock> blocks) {
    this.analysis = analysis;
    this.block = new ContributionBlock[analysis.fronts()];
    blocks.forEach(this::put);
  }

  /** The block of a front; null if there is none. */
  ContributionBlock get(int front) {
    return block[front];
  }

  void put(ContributionBlock b) {
    block[b.front()] = b;
  }

  void remove(int front) {
    block[front] = null;
  }

  /** Blocks with rows of the fronts' children, ascending by parent. */
  List<ContributionBlock> inputs(int[] fronts) {
    var in = new ArrayList<ContributionBlock>();
    for (int f : fronts) {
      for (int k = 0; k < analysis.childCount(f); k++) {
        ContributionBlock b = block[analysis.child(f, k)];
        if (b != null && b.cm() > 0) {
          in.add(b);
        }
      }
    }
    return in;
  }

  /** Lets go of the blocks of a done front's children. */
  void dropChildren(int front) {
    for (int k = 0; k < analysis.childCount(front); k++) {
      block[analysis.child(front, k)] = null;
    }
  }
}
