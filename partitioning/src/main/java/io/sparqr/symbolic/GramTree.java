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

  /** Size nf; whether a front is in its parent's tree. */
  private final boolean[] member;

  private final double[] cost;

  /** Size nf; of a root: doubles of its tree that are there together. */
  private final float[] entries;

  /**
   * Decides.
   *
   * @param fronts sizes
   * @param flops size nf; by reflectors
   * @param rows size nf; cost of the rows of A of a front and of blocks that come from elsewhere,
   *     by {@link GramWork#piece}
   * @param bytes that a tree may take
   */
  public GramTree(Fronts fronts, double[] flops, double[] rows, int rhs, long bytes) {
    count = fronts.count();
    parent = new int[count];
    gram = new boolean[count];
    cost = rows.clone();
    // Nothing below reads the caller's array, which is free from here on.
    double[] open = rows.clone();
    var memory = new Memory(fronts, rhs, (double) bytes / Double.BYTES);
    entries = memory.asRoot;
    // Of whole trees: by reflectors alone, and the cheapest way with rows of a block on top.
    double[] reflectors = flops.clone();
    double[] best = flops.clone();
    member = new boolean[count];
    for (int f = 0; f < count; f++) {
      parent[f] = fronts.parent(f);
      double p = fronts.pivots(f);
      double c = fronts.tail(f);
      cost[f] += GramWork.pivots(p, p + c, rhs);
      open[f] += GramWork.pivots(p, p + c, rhs);
      double closed = open[f] + GramWork.pivots(c, c, rhs);
      boolean enough = memory.hasRoot(f) && reflectors[f] >= GramWork.LEAST_FLOPS;
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
        member[f] = memory.joins(f, gram[f] || in <= outside);
        open[above] += member[f] ? in : outside;
      }
    }
    for (int f = count - 1; f >= 0; f--) {
      int above = parent[f];
      member[f] &= above >= 0 && gram[above];
      gram[f] |= member[f];
      if (gram[f]) {
        boolean root = isRoot(f);
        double c = fronts.tail(f);
        cost[f] += root ? GramWork.pivots(c, c, rhs) : GramWork.left(c);
      } else {
        cost[f] = flops[f];
      }
      if (above >= 0 && gram[above] && !member[f]) {
        cost[above] += GramWork.piece(fronts.block(f), fronts.tail(f), rhs);
      }
    }
  }

  /**
   * Doubles of the trees below each front, if it is in one with them: R, the square of the front
   * that is eliminated, in which a root leaves its part of R, and triangles that wait for their
   * parents. Fronts that are cheaper in their parents ({@link GramMerge}) count there.
   */
  private static final class Memory {

    private final Fronts fronts;
    private final int rhs;
    private final double most;

    // In a driver of a few hundred MB each front counts: seven digits will do.

    /** Pivots of fronts that have gone into this one. */
    private final int[] further;

    /** Of R below the front. */
    private final float[] below;

    /** What its children leave, and the most that was there for one of them. */
    private final float[] waiting;

    private final float[] peak;

    /** Whether it has more than rows of A. */
    private final boolean[] inner;

    /** Whether all of its strips are there in twice the precision. */
    private final boolean[] wait;

    /** All, if the front is a root. */
    final float[] asRoot;

    Memory(Fronts fronts, int rhs, double most) {
      this.fronts = fronts;
      this.rhs = rhs;
      this.most = most;
      int count = fronts.count();
      further = new int[count];
      below = new float[count];
      waiting = new float[count];
      peak = new float[count];
      inner = new boolean[count];
      wait = new boolean[count];
      asRoot = new float[count];
    }

    private double columns(int f) {
      return further[f] + fronts.pivots(f) + fronts.tail(f);
    }

    private static double square(double n, boolean wait) {
      return GramWork.triangle(n) + GramWork.low(n, wait);
    }

    /** Whether there is room for a root, once its children are decided. */
    boolean hasRoot(int f) {
      double n = columns(f);
      asRoot[f] = (float) (below[f] + Math.max(peak[f], waiting[f] + square(n, wait[f])));
      return asRoot[f] <= most;
    }

    /** Lets a front join its parent's tree, if that pays and there is room for it. */
    boolean joins(int f, boolean pays) {
      int above = fronts.parent(f);
      double n = columns(f);
      double c = fronts.tail(f);
      double p = n - c;
      double wide = columns(above);
      boolean merged =
          GramWork.pivots(p, wide + p, rhs) < GramWork.pivots(p, n, rhs) + GramWork.left(c);
      boolean thin = !inner[f] && p <= Math.min(GramWork.THIN_PIVOTS, c);
      double square = merged || thin ? 0 : square(n, wait[f]);
      double left = merged ? waiting[f] : thin ? 0 : GramWork.entries(c, c);
      double r = below[f] + (merged ? 0 : GramWork.entries(p, n));
      double own = Math.max(peak[f], waiting[f] + square);
      double high = Math.max(peak[above], waiting[above] + own);
      wide += merged ? p : 0;
      boolean products = merged ? wait[f] : thin && c * GramWork.SPARSE >= wide;
      boolean waits = wait[above] || products;
      double parents = waiting[above] + left + square(wide, waits);
      boolean joins = pays && below[above] + r + Math.max(high, parents) <= most;
      inner[above] |= (joins && !merged) || (joins ? inner[f] : fronts.block(f) > 1);
      if (joins) {
        below[above] += r;
        peak[above] = (float) high;
        waiting[above] += left;
        further[above] += merged ? (int) p : 0;
        wait[above] = waits;
      }
      return joins;
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
    return gram[f] && !member[f];
  }

  /** The cost of front f, in flops by reflectors of the same time. */
  public double cost(int f) {
    return cost[f];
  }

  /**
   * Bytes, about, of the tree of a root: R, and beside it the square of the front that is
   * eliminated and what waits for its parents.
   */
  public long bytes(int f) {
    return (long) (8.0 * entries[f]);
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
