/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import java.util.Arrays;

/**
 * The tree made for {@link GramTree}: a front goes into its parent where that costs less than to
 * leave to it what is left of its Gram matrix. Below the dense last front of a panel there are
 * fronts of five pivots and thousands of columns, and each leaves a square of them.
 */
final class GramMerge {

  private final FrontTree fronts;
  private final int rhs;
  private final GramTree tree;

  /** Size nf; the front into which a front is merged, itself at first. */
  private final int[] into;

  /** Size nf; columns and pivots of the group of a front that stands for it. */
  private final double[] columns;

  /**
   * Decides.
   *
   * @param flops size nf; of reflectors
   * @param rowLength mean entries of a row
   * @param bytes that a tree may take
   */
  GramMerge(FrontTree fronts, double[] flops, double rowLength, int rhs, long bytes) {
    this.fronts = fronts;
    this.rhs = rhs;
    tree = tree(fronts, flops, rowLength, rhs, bytes);
    int nf = fronts.count;
    into = new int[nf];
    columns = new double[nf];
    Arrays.setAll(into, f -> f);
    for (int f = nf - 1; f >= 0; f--) {
      columns[f] = pivots(f) + fronts.cn[f];
      if (tree.isGram(f) && !tree.isRoot(f)) {
        decide(f);
      }
    }
  }

  /** The choice for a tree whose rows have a mean length. */
  static GramTree tree(FrontTree fronts, double[] flops, double rowLength, int rhs, long bytes) {
    double[] rows = new double[fronts.count];
    for (int f = 0; f < rows.length; f++) {
      rows[f] += fronts.fm[f];
      if (fronts.parent[f] >= 0) {
        rows[fronts.parent[f]] -= fronts.cm[f];
      }
    }
    double one = GramWork.piece(1, rowLength, rhs);
    for (int f = 0; f < rows.length; f++) {
      rows[f] *= one;
    }
    return new GramTree(fronts, flops, rows, rhs, bytes);
  }

  private double pivots(int f) {
    return (double) fronts.pivotStart[f + 1] - fronts.pivotStart[f];
  }

  private void decide(int f) {
    int g = into[fronts.parent[f]];
    double p = pivots(f);
    double merged = GramWork.pivots(p, columns[g] + p, rhs);
    double alone = GramWork.pivots(p, columns[f], rhs) + GramWork.left(fronts.cn[f]);
    if (merged < alone) {
      into[f] = g;
      columns[g] += p;
    }
  }

  /** The choice before anything is merged. */
  GramTree tree() {
    return tree;
  }

  /** The groups of columns after it; those before it if no front is merged. */
  Supernodes groups(Supernodes before) {
    for (int f = 0; f < fronts.count; f++) {
      if (into[f] != f) {
        return merged(fronts, into);
      }
    }
    return before;
  }

  /**
   * The groups of columns of fronts that are merged.
   *
   * @param into size nf; the front into which a front is merged, itself or an ancestor
   */
  static Supernodes merged(FrontTree fronts, int[] into) {
    int nf = fronts.count;
    int[] number = new int[nf];
    int count = 0;
    for (int f = 0; f < nf; f++) {
      if (into[f] == f) {
        number[f] = count++;
      }
    }
    int[] parent = new int[count];
    int[] pivots = new int[count];
    int[] tail = new int[count];
    for (int f = 0; f < nf; f++) {
      int g = number[into[f]];
      pivots[g] += fronts.pivotStart[f + 1] - fronts.pivotStart[f];
      if (into[f] == f) {
        int p = fronts.parent[f];
        parent[g] = p < 0 ? -1 : number[into[p]];
        tail[g] = fronts.cn[f];
      }
    }
    int[] groupOf = new int[fronts.place.length];
    for (int j = 0; j < groupOf.length; j++) {
      groupOf[j] = number[into[fronts.frontOfPlace[fronts.place[j]]]];
    }
    return new Supernodes(groupOf, parent, pivots, tail);
  }
}
