/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import java.util.Arrays;

/**
 * A tree for a backend that may take fronts by their Gram matrix: a child is merged into such a
 * front where its rows cost less there than its own factorization and its block. The children of
 * one that was merged follow in turn. Below a dense last front this takes the fronts of few pivots
 * and thousands of columns, whose triangles would cost more than all rows of A.
 */
final class GramMerge {

  private final FrontTree fronts;
  private final double[] flops;
  private final int rhs;

  /** Cost of a row of A in a Gram front, from the mean length of rows. */
  private final double ownRow;

  /** Size nf; rows of A that begin in a front. */
  private final double[] own;

  /** Size nf; cost of all pieces of a front. */
  private final double[] pieces;

  /** Size nf; the front into which a front is merged, itself at first. */
  private final int[] into;

  /** Size nf; columns of the group of a front that stands for it. */
  private final double[] columns;

  /** Size nf; work of a group taken by its Gram matrix; 0: another. */
  private final double[] gram;

  /** Work of all fronts, by the cheaper way each, before anything is merged. */
  private double work;

  /**
   * Decides.
   *
   * @param flops size nf; of reflectors
   * @param rowLength mean entries of a row
   */
  GramMerge(FrontTree fronts, double[] flops, double rowLength, int rhs) {
    this.fronts = fronts;
    this.flops = flops;
    this.rhs = rhs;
    int nf = fronts.count;
    ownRow = GramWork.piece(1, rowLength, rhs);
    own = new double[nf];
    pieces = new double[nf];
    into = new int[nf];
    columns = new double[nf];
    gram = new double[nf];
    Arrays.setAll(into, f -> f);
    Arrays.setAll(own, f -> fronts.fm[f]);
    for (int f = 0; f < nf; f++) {
      columns[f] = (double) fronts.pivotStart[f + 1] - fronts.pivotStart[f] + fronts.cn[f];
      pieces[f] += own[f] * ownRow;
      int p = fronts.parent[f];
      if (p >= 0) {
        own[p] -= fronts.cm[f];
        pieces[p] += block(f);
      }
    }
    for (int f = nf - 1; f >= 0; f--) {
      decide(f);
    }
  }

  private double block(int f) {
    return GramWork.piece(fronts.cm[f], fronts.cn[f], rhs);
  }

  private void decide(int f) {
    double alone = GramWork.triangle(columns[f], rhs) + pieces[f];
    boolean pays = GramWork.pays(flops[f], alone, columns[f]);
    double cost = pays ? alone : flops[f];
    gram[f] = pays ? alone : 0;
    work += cost;
    int p = fronts.parent[f];
    if (p < 0 || gram[into[p]] == 0) {
      return;
    }
    int g = into[p];
    double pivots = (double) fronts.pivotStart[f + 1] - fronts.pivotStart[f];
    double grows = GramWork.triangle(columns[g] + pivots, rhs) - GramWork.triangle(columns[g], rhs);
    double more = grows + pieces[f] - block(f);
    if (more < cost) {
      into[f] = g;
      columns[g] += pivots;
      gram[g] += more;
      work += more - cost;
    }
  }

  /** Flops of the same time by reflectors, each front the cheaper way. */
  double work() {
    return work;
  }

  /** The part of the work in the front with the most of it that is taken by its Gram matrix. */
  double largestShare() {
    return work == 0 ? 0 : Arrays.stream(gram).max().orElse(0) / work;
  }

  /** The groups of columns after it; those before it if no front is merged. */
  Supernodes groups(Supernodes before) {
    int nf = fronts.count;
    int[] number = new int[nf];
    int count = 0;
    for (int f = 0; f < nf; f++) {
      if (into[f] == f) {
        number[f] = count++;
      }
    }
    if (count == nf) {
      return before;
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
