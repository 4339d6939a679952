/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.solve;

import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.Arrays;
import java.util.BitSet;

/**
 * The fronts that matter if a solve with R'R has nonzeros, and is wanted, at some columns only:
 * those that have the columns as pivots, and all above them. The columns of their rows of R are
 * pivots of such fronts, so that a vector needs no others (Gilbert and Peierls 1988,
 * doi:10.1137/0909058, for a set of columns).
 */
public final class Support {

  private final BitSet fronts;
  private final int[] position;

  private Support(BitSet fronts, int[] position) {
    this.fronts = fronts;
    this.position = position;
  }

  /**
   * Of a plan without singletons.
   *
   * @param columns original indices, in any order
   */
  public static Support of(SolvePlan plan, int[] columns) {
    SymbolicAnalysis analysis = plan.analysis();
    var fronts = new BitSet(analysis.fronts());
    for (int j : columns) {
      int f = plan.frontOf(plan.position(j));
      while (f >= 0 && !fronts.get(f)) {
        fronts.set(f);
        f = analysis.parent(f);
      }
    }
    int count = fronts.stream().map(analysis::fp).sum();
    int[] position = new int[count];
    int k = 0;
    for (int f = fronts.nextSetBit(0); f >= 0; f = fronts.nextSetBit(f + 1)) {
      for (int p = analysis.firstPivot(f); p < analysis.firstPivot(f + 1); p++) {
        position[k++] = p;
      }
    }
    return new Support(fronts, position);
  }

  boolean has(int front) {
    return fronts.get(front);
  }

  /** Number of pivots of the fronts: of values per vector. */
  public int size() {
    return position.length;
  }

  /** Where a pivot's value is in a vector. */
  public int index(int p) {
    int at = Arrays.binarySearch(position, p);
    if (at < 0) {
      throw new IllegalStateException("position " + p + " is not of these fronts");
    }
    return at;
  }
}
