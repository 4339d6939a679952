/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering.dissection;

import io.sparqr.ordering.graph.WeightedGraph;

/**
 * Initial separators of a small graph: side 0 grows from a random vertex, always by the member of
 * the separator that enlarges the separator least, until it has half of the weight (greedy graph
 * growing, Karypis and Kumar 1998, section 3.2, here with vertex separators). The separator is then
 * refined.
 */
final class InitialSeparator {
  private final SeparatorState state;
  private final SeparatorRefinement refinement;

  InitialSeparator(SeparatorState state, SeparatorRefinement refinement) {
    this.state = state;
    this.refinement = refinement;
  }

  /** Grows and refines one separator of the state's graph. */
  void grow(int maxSide, int passes, DissectionRandom random) {
    SeparatorState s = state;
    WeightedGraph g = s.graph();
    s.openOnSide(1);
    GainBuckets toward = s.toward[0];
    int scan = random.next(g.n);
    while (s.weight[0] < s.weight[1]) {
      if (toward.isEmpty()) {
        while (s.part[scan] != 1) {
          scan = scan + 1 == g.n ? 0 : scan + 1;
        }
        s.pullIn(scan, 0);
      }
      s.move(toward.top(), 0);
    }
    s.settle();
    s.close();
    refinement.refine(maxSide, passes, random);
  }
}
