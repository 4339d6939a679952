/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.integrity;

import io.sparqr.error.NumericalIntegrityException;
import io.sparqr.numeric.CompensatedSums;
import io.sparqr.numeric.ContributionBlock;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.FactorSummary;
import io.sparqr.numeric.FrontFactor;
import io.sparqr.numeric.FrontReflectors;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeFactorizer;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.assembly.RowsByFront;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Map;

/**
 * A task split into one task per front, each checked separately: slow, but it identifies the
 * failing front.
 */
final class FrontByFront {

  private final SubtreeFactorizer host;
  private final SubtreeProblem problem;
  private final FactorOptions options;
  private final SymbolicAnalysis analysis;

  /** Blocks not yet passed to a parent, by front. */
  private final Map<Integer, ContributionBlock> held = new HashMap<>();

  FrontByFront(SubtreeFactorizer host, SubtreeProblem problem, FactorOptions options) {
    this.host = host;
    this.problem = problem;
    this.options = options;
    analysis = problem.analysis();
    problem.inputs().forEach(b -> held.put(b.front(), b));
  }

  /** Factors all fronts. */
  SubtreeFactor run() {
    var fronts = new ArrayList<FrontFactor>();
    var reflectors = new ArrayList<FrontReflectors>();
    var residual = new CompensatedSums(problem.rows().rhsCount());
    FactorSummary summary = null;
    var rows = new RowsByFront(problem);
    for (int f : problem.fronts()) {
      SubtreeFactor one = front(f, rows);
      fronts.addAll(one.fronts());
      reflectors.addAll(one.reflectors());
      one.outputs().forEach(b -> held.put(b.front(), b));
      residual.add(one.residualSquares(), 0);
      summary = summary == null ? one.summary() : summary.merge(one.summary());
    }
    var outputs = new ArrayList<>(held.values());
    outputs.sort((a, b) -> Integer.compare(a.front(), b.front()));
    FactorSummary all = summary == null ? FactorSummary.none() : summary;
    return new SubtreeFactor(fronts, outputs, residual.values(), all, reflectors);
  }

  private SubtreeFactor front(int f, RowsByFront rows) {
    var inputs = new ArrayList<ContributionBlock>();
    for (int k = 0; k < analysis.childCount(f); k++) {
      ContributionBlock b = held.remove(analysis.child(f, k));
      if (b != null) {
        inputs.add(b);
      }
    }
    int[] alone = {f};
    var one = new SubtreeProblem(analysis, alone, rows.only(alone), inputs);
    try {
      return CheckedFactorizer.attempt(host, one, options);
    } catch (IntegrityFailure e) {
      int p = e.position();
      int column = p < 0 ? p : analysis.permutation().original(p);
      var failed = new NumericalIntegrityException(-1, f, column, e.departure(), e.bound());
      failed.initCause(e);
      throw failed;
    }
  }
}
