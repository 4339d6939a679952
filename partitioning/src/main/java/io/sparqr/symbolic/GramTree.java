/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

/**
 * Which fronts are factored by their Gram matrix: trees of fronts, each as one, where reflectors
 * cost several times as much. The cheapest choice, from the leaves up: a front is factored by
 * reflectors and leaves a block of rows, or by the Gram matrix of its tree, and leaves what is left
 * of that to its parent in the same tree, or as the tree's root a triangle of rows. O(nf).
 */
public final class GramTree {

  private final int count;
  private final int[] parent;
  private final boolean[] gram;
  private final double[] cost;

  /** Size nf; of a root: entries of its tree's R and of the squares that are there together. */
  private final double[] entries;

  /**
   * Decides.
   *
   * @param fronts sizes
   * @param flops size nf; by reflectors
   * @param rows size nf; cost of the rows of A of a front and of blocks that come from elsewhere,
   *     by {@link GramWork#piece}
   */
  public GramTree(Fronts fronts, double[] flops, double[] rows, int rhs) {
    count = fronts.count();
    parent = new int[count];
    gram = new boolean[count];
    cost = new double[count];
    double[] open = rows.clone();
    entries = new double[count];
    // Of whole trees: by reflectors alone, and the cheapest way with rows of a block on top.
    double[] reflectors = flops.clone();
    double[] best = flops.clone();
    boolean[] member = new boolean[count];
    for (int f = 0; f < count; f++) {
      parent[f] = fronts.parent(f);
      double p = fronts.pivots(f);
      double c = fronts.tail(f);
      cost[f] = GramWork.pivots(p, p + c, rhs) + rows[f];
      open[f] += GramWork.pivots(p, p + c, rhs);
      entries[f] += GramWork.entries(p, p + c);
      double closed = open[f] + GramWork.pivots(c, c, rhs);
      boolean enough = reflectors[f] >= GramWork.LEAST_FLOPS;
      if (enough && reflectors[f] >= GramWork.GAIN * closed && closed <= best[f]) {
        best[f] = closed;
        gram[f] = true;
      }
      int above = parent[f];
      if (above >= 0) {
        reflectors[above] += reflectors[f];
        best[above] += best[f];
        double in = open[f] + GramWork.left(c);
        double outside = best[f] + GramWork.piece(fronts.block(f), c, rhs);
        boolean room = entries[above] + entries[f] <= GramWork.MOST_ENTRIES;
        member[f] = room && (gram[f] || in <= outside);
        open[above] += member[f] ? in : outside;
        entries[above] += member[f] ? entries[f] : 0;
      }
    }
    for (int f = count - 1; f >= 0; f--) {
      int above = parent[f];
      if (above >= 0 && gram[above]) {
        gram[f] = member[f];
      }
      if (gram[f]) {
        boolean root = isRoot(f);
        double c = fronts.tail(f);
        cost[f] += root ? GramWork.pivots(c, c, rhs) : GramWork.left(c);
      } else {
        cost[f] = flops[f];
      }
      if (above >= 0 && gram[above] && !gram[f]) {
        cost[above] += GramWork.piece(fronts.block(f), fronts.tail(f), rhs);
      }
    }
    addSquares(fronts);
  }

  /** The most entries of squares at a time: a front's, and those that wait for their parents. */
  private void addSquares(Fronts fronts) {
    double[] waiting = new double[count];
    double[] peak = new double[count];
    boolean[] inner = new boolean[count];
    for (int f = 0; f < count; f++) {
      double p = fronts.pivots(f);
      double n = p + fronts.tail(f);
      boolean alone = gram[f] && !isRoot(f) && !inner[f];
      boolean thin = alone && p <= Math.min(GramWork.THIN_PIVOTS, fronts.tail(f));
      double square = gram[f] && !thin ? n * n : 0;
      peak[f] = Math.max(peak[f], waiting[f] + square);
      int above = parent[f];
      if (above >= 0) {
        inner[above] |= gram[f] || fronts.block(f) > 1;
      }
      if (gram[f] && !isRoot(f)) {
        peak[above] = Math.max(peak[above], waiting[above] + peak[f]);
        waiting[above] += square;
      }
      entries[f] = gram[f] ? entries[f] + peak[f] : 0;
    }
  }

  /** Sizes of fronts in postorder. */
  public interface Fronts {

    /** nf. */
    int count();

    /** A front's parent, or -1. */
    int parent(int f);

    /** Pivot columns. */
    int pivots(int f);

    /** Other columns. */
    int tail(int f);

    /** Rows of the block that reflectors leave. */
    double block(int f);
  }

  /** Whether front f is factored by the Gram matrix of its tree. */
  public boolean isGram(int f) {
    return gram[f];
  }

  /** Whether front f is the root of such a tree. */
  public boolean isRoot(int f) {
    return gram[f] && (parent[f] < 0 || !gram[parent[f]]);
  }

  /** The cost of front f, in flops by reflectors of the same time. */
  public double cost(int f) {
    return cost[f];
  }

  /**
   * Bytes, about, of the tree of a root: R, and the squares of the front that is eliminated and of
   * those that wait for their parents.
   */
  public long bytes(int f) {
    return (long) (8 * entries[f]);
  }

  /** The cost of all fronts. */
  public double work() {
    double sum = 0;
    for (int f = 0; f < count; f++) {
      sum += cost[f];
    }
    return sum;
  }
}
