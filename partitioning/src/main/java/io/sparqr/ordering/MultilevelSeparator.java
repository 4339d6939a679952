/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering;

/**
 * Multilevel vertex separators (Karypis and Kumar 1998): coarsen, separate the coarsest graph
 * several times, carry the best up with refinement at every level. Of a large graph the coarse half
 * of the hierarchy is built and separated several times over, since it costs little there. At last
 * the result competes with separators by distance ({@link DistanceSeparators}). The object keeps
 * scratch arrays and belongs to one thread.
 */
final class MultilevelSeparator {
  /** METIS's default: neither side beyond 0.6 of the weight (1.2 times half). */
  static final double MAX_SIDE = 0.6;

  private static final int REPEAT_FROM = 5000;
  private static final int REPEATS = 5;
  private static final int LEVELS_BEFORE_REPEATS = 4;
  private static final int INITIAL_TRIES = 7;
  private static final int PASSES = 10;
  private static final int DISTANCES_FROM = 400;
  private static final int COARSEST = 100;
  private static final int COARSEST_AT_LEAST = 40;

  /** Coarsening stops where a step leaves more than this part of the vertices. */
  private static final double STALLED = 0.95;

  /**
   * How much imbalance costs: a side of 0.6 makes a separator count 2% heavier, about what it adds
   * to the flops of the two sides of a cube.
   */
  private static final double IMBALANCE_COST = 0.5;

  private final SeparatorState state = new SeparatorState();
  private final SeparatorRefinement refinement = new SeparatorRefinement(state);
  private final InitialSeparator initial = new InitialSeparator(state, refinement);
  private final DistanceSeparators distances = new DistanceSeparators(state);

  private int[] bestOfTries = new int[0];
  private int[] bestOfRepeats = new int[0];

  /** The separator of the last call: {@code part[v]} is 0, 1, or 2 for the separator. */
  SeparatorState state() {
    return state;
  }

  /** Separates g, of two vertices at least. O((n + entries) log) in practice. */
  void separate(WeightedGraph g, long seed) {
    DissectionRandom random = new DissectionRandom(seed);
    if (g.n < REPEAT_FROM) {
      separateOnce(g, random);
    } else {
      separateRepeatedly(g, random);
    }
    if (g.n >= DISTANCES_FROM) {
      tryDistances(g, random);
    }
  }

  private void tryDistances(WeightedGraph g, DissectionRandom random) {
    int maxSide = maxSide(g);
    bestOfRepeats = keep(bestOfRepeats, g.n);
    double best = cost(maxSide);
    int bestWeight = state.weight[SeparatorState.SEPARATOR];
    distances.measure(g, random.next(g.n));
    for (int which = 0; which < 3; which++) {
      if (!distances.candidate(g, which, bestWeight)) {
        continue;
      }
      refinement.refine(maxSide, PASSES, random);
      double cost = cost(maxSide);
      if (cost < best) {
        best = cost;
        bestWeight = state.weight[SeparatorState.SEPARATOR];
        bestOfRepeats = keep(bestOfRepeats, g.n);
      }
    }
    restore(bestOfRepeats, g.n);
  }

  private void separateRepeatedly(WeightedGraph g, DissectionRandom random) {
    Coarsening[] levels = new Coarsening[LEVELS_BEFORE_REPEATS];
    int maxWeight = maxCoarseWeight(g, COARSEST);
    int depth = 0;
    WeightedGraph coarse = g;
    while (depth < levels.length) {
      Coarsening next = Coarsening.of(coarse, maxWeight, random);
      if (next.coarse().n > STALLED * coarse.n) {
        break;
      }
      levels[depth++] = next;
      coarse = next.coarse();
    }
    int maxSide = maxSide(g);
    double best = Double.POSITIVE_INFINITY;
    for (int run = 0; run < REPEATS; run++) {
      separateOnce(coarse, random);
      double cost = cost(maxSide);
      if (cost < best) {
        best = cost;
        bestOfRepeats = keep(bestOfRepeats, coarse.n);
      }
    }
    restore(bestOfRepeats, coarse.n);
    carryUp(g, levels, depth, maxSide, random);
  }

  private void separateOnce(WeightedGraph g, DissectionRandom random) {
    int coarsenTo = Math.max(COARSEST_AT_LEAST, Math.min(g.n / 8, COARSEST));
    int maxWeight = maxCoarseWeight(g, coarsenTo);
    Coarsening[] levels = new Coarsening[Integer.SIZE];
    int depth = 0;
    WeightedGraph coarse = g;
    while (coarse.n > coarsenTo && depth < levels.length && coarse.entries() > 0) {
      Coarsening next = Coarsening.of(coarse, maxWeight, random);
      if (next.coarse().n > STALLED * coarse.n) {
        break;
      }
      levels[depth++] = next;
      coarse = next.coarse();
    }
    int maxSide = maxSide(g);
    bestInitial(coarse, maxSide, random);
    carryUp(g, levels, depth, maxSide, random);
  }

  private void bestInitial(WeightedGraph coarse, int maxSide, DissectionRandom random) {
    state.bind(coarse);
    double best = Double.POSITIVE_INFINITY;
    for (int run = 0; run < INITIAL_TRIES; run++) {
      initial.grow(maxSide, PASSES, random);
      double cost = cost(maxSide);
      if (cost < best) {
        best = cost;
        bestOfTries = keep(bestOfTries, coarse.n);
      }
    }
    restore(bestOfTries, coarse.n);
  }

  private void carryUp(
      WeightedGraph g, Coarsening[] levels, int depth, int maxSide, DissectionRandom random) {
    for (int level = depth - 1; level >= 0; level--) {
      state.project(level == 0 ? g : levels[level - 1].coarse(), levels[level].map());
      levels[level] = null;
      refinement.refine(maxSide, PASSES, random);
    }
  }

  private static int maxSide(WeightedGraph g) {
    return (int) Math.max(MAX_SIDE * g.totalWeight, g.totalWeight / 2 + 1);
  }

  private static int maxCoarseWeight(WeightedGraph g, int coarsenTo) {
    return (int) Math.min(Integer.MAX_VALUE, 1 + 1.5 * g.totalWeight / coarsenTo);
  }

  /** What to minimise: excess over the balance first, then the weight, then the imbalance. */
  private double cost(int maxSide) {
    int[] w = state.weight;
    int excess = Math.max(0, Math.max(w[0], w[1]) - maxSide);
    double imbalance = Math.abs(w[0] - w[1]) / (1.0 + w[0] + w[1]);
    return 1e6 * excess
        + w[SeparatorState.SEPARATOR] * (1 + IMBALANCE_COST * imbalance * imbalance)
        + 0.01 * imbalance;
  }

  private int[] keep(int[] target, int n) {
    int[] copy = target.length < n ? new int[n] : target;
    System.arraycopy(state.part, 0, copy, 0, n);
    return copy;
  }

  private void restore(int[] kept, int n) {
    System.arraycopy(kept, 0, state.part, 0, n);
    state.recompute();
  }
}
