/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.integrity;

import io.sparqr.error.NumericalIntegrityException;
import io.sparqr.numeric.ContributionBlock;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.FactorSummary;
import io.sparqr.numeric.FrontFactor;
import io.sparqr.numeric.FrontReflectors;
import io.sparqr.numeric.RowBlock;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeFactorizer;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/** A task as one task a front, each checked by itself: slow, and exact about what fails. */
final class FrontByFront {

  private final SubtreeFactorizer host;
  private final SubtreeProblem problem;
  private final FactorOptions options;
  private final SymbolicAnalysis analysis;

  /** Blocks that nobody has taken, by front. */
  private final Map<Integer, ContributionBlock> held = new HashMap<>();

  FrontByFront(SubtreeFactorizer host, SubtreeProblem problem, FactorOptions options) {
    this.host = host;
    this.problem = problem;
    this.options = options;
    analysis = problem.analysis();
    problem.inputs().forEach(b -> held.put(b.front(), b));
  }

  /** All fronts. */
  SubtreeFactor run() {
    var fronts = new ArrayList<FrontFactor>();
    var reflectors = new ArrayList<FrontReflectors>();
    double[] residual = new double[problem.rows().rhsCount()];
    FactorSummary summary = null;
    int[][] rows = rowsByFront();
    for (int i = 0; i < rows.length; i++) {
      SubtreeFactor one = front(problem.fronts()[i], rows[i]);
      fronts.addAll(one.fronts());
      reflectors.addAll(one.reflectors());
      one.outputs().forEach(b -> held.put(b.front(), b));
      for (int q = 0; q < residual.length; q++) {
        residual[q] += one.residualSquares()[q];
      }
      summary = summary == null ? one.summary() : summary.merge(one.summary());
    }
    var outputs = new ArrayList<>(held.values());
    outputs.sort((a, b) -> Integer.compare(a.front(), b.front()));
    return new SubtreeFactor(fronts, outputs, residual, summary, reflectors);
  }

  private SubtreeFactor front(int f, int[] which) {
    var inputs = new ArrayList<ContributionBlock>();
    for (int k = 0; k < analysis.childCount(f); k++) {
      ContributionBlock b = held.remove(analysis.child(f, k));
      if (b != null) {
        inputs.add(b);
      }
    }
    var one = new SubtreeProblem(analysis, new int[] {f}, rows(which), inputs);
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

  private int[][] rowsByFront() {
    int[] fronts = problem.fronts();
    int[] owner = problem.rows().front();
    int[] count = new int[fronts.length];
    int[] place = new int[owner.length];
    for (int i = 0; i < owner.length; i++) {
      place[i] = Arrays.binarySearch(fronts, owner[i]);
      count[place[i]]++;
    }
    int[][] rows = new int[fronts.length][];
    Arrays.setAll(rows, t -> new int[count[t]]);
    for (int i = owner.length - 1; i >= 0; i--) {
      rows[place[i]][--count[place[i]]] = i;
    }
    return rows;
  }

  private RowBlock rows(int[] which) {
    RowBlock all = problem.rows();
    int rhs = all.rhsCount();
    int n = which.length;
    int[] start = new int[n + 1];
    for (int k = 0; k < n; k++) {
      start[k + 1] = start[k] + all.rowStart()[which[k] + 1] - all.rowStart()[which[k]];
    }
    var part =
        new RowBlock(
            new int[n], start, new int[start[n]], new double[start[n]], new double[n * rhs], rhs);
    for (int k = 0; k < n; k++) {
      int i = which[k];
      int from = all.rowStart()[i];
      int length = start[k + 1] - start[k];
      part.front()[k] = all.front()[i];
      System.arraycopy(all.position(), from, part.position(), start[k], length);
      System.arraycopy(all.value(), from, part.value(), start[k], length);
      System.arraycopy(all.rhs(), i * rhs, part.rhs(), k * rhs, rhs);
    }
    return part;
  }
}
