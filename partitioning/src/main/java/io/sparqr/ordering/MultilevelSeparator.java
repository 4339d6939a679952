/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering;

/**
 * Multilevel vertex separators (Karypis and Kumar 1998): coarsen, separate the coarsest graph
 * several times, carry the best up with refinement at every level. Of a large graph the coarse half
 * of the hierarchy is built and separated several times over, since it costs little there. The
 * object keeps scratch arrays and belongs to one thread.
 */
final class MultilevelSeparator {
  /** METIS's default: neither side beyond 0.6 of the weight (1.2 times half). */
  static final double MAX_SIDE = 0.6;

  private static final int REPEAT_FROM = 5000;
  private static final int REPEATS = 5;
  private static final int LEVELS_BEFORE_REPEATS = 4;
  private static final int INITIAL_TRIES = 7;
  private static final int PASSES = 10;
  private static final double STALLED = 0.95;

  private final SeparatorState state = new SeparatorState();
  private final SeparatorRefinement refinement = new SeparatorRefinement(state);
  private final InitialSeparator initial = new InitialSeparator(state, refinement);

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
      return;
    }
    Coarsening[] levels = new Coarsening[LEVELS_BEFORE_REPEATS];
    int maxWeight = (int) Math.min(Integer.MAX_VALUE, 1 + 1.5 * g.totalWeight / 100);
    int depth = 0;
    WeightedGraph coarse = g;
    while (depth < levels.length && coarse.n > REPEAT_FROM / 10) {
      Coarsening next = Coarsening.of(coarse, maxWeight, random);
      if (next.coarse().n > STALLED * coarse.n) {
        break;
      }
      levels[depth++] = next;
      coarse = next.coarse();
    }
    if (bestOfRepeats.length < coarse.n) {
      bestOfRepeats = new int[coarse.n];
    }
    int maxSide = maxSide(g);
    double best = Double.POSITIVE_INFINITY;
    for (int run = 0; run < REPEATS; run++) {
      separateOnce(coarse, random);
      double cost = cost(maxSide);
      if (cost < best) {
        best = cost;
        System.arraycopy(state.part, 0, bestOfRepeats, 0, coarse.n);
      }
    }
    System.arraycopy(bestOfRepeats, 0, state.part, 0, coarse.n);
    state.recompute();
    while (depth > 0) {
      depth--;
      state.project(depth == 0 ? g : levels[depth - 1].coarse(), levels[depth].map());
      levels[depth] = null;
      refinement.refine(maxSide, PASSES, random);
    }
  }

  private static int maxSide(WeightedGraph g) {
    return (int) Math.max(MAX_SIDE * g.totalWeight, g.totalWeight / 2 + 1);
  }

  /** What to minimise: the separator's weight, any excess over the balance first. */
  private double cost(int maxSide) {
    int[] w = state.weight;
    int excess = Math.max(0, Math.max(w[0], w[1]) - maxSide);
    double tie = Math.abs(w[0] - w[1]) / (1.0 + w[0] + w[1]);
    return 1e6 * excess + w[SeparatorState.SEPARATOR] + tie;
  }

  private void separateOnce(WeightedGraph g, DissectionRandom random) {
    int coarsenTo = Math.max(40, Math.min(g.n / 8, 100));
    int maxWeight = (int) Math.min(Integer.MAX_VALUE, 1 + 1.5 * g.totalWeight / coarsenTo);
    Coarsening[] levels = new Coarsening[40];
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
    while (depth > 0) {
      depth--;
      state.project(depth == 0 ? g : levels[depth - 1].coarse(), levels[depth].map());
      levels[depth] = null;
      refinement.refine(maxSide, PASSES, random);
    }
  }

  private void bestInitial(WeightedGraph coarse, int maxSide, DissectionRandom random) {
    if (bestOfTries.length < coarse.n) {
      bestOfTries = new int[coarse.n];
    }
    state.bind(coarse);
    double best = Double.POSITIVE_INFINITY;
    for (int run = 0; run < INITIAL_TRIES; run++) {
      initial.grow(maxSide, PASSES, random);
      double cost = cost(maxSide);
      if (cost < best) {
        best = cost;
        System.arraycopy(state.part, 0, bestOfTries, 0, coarse.n);
      }
    }
    System.arraycopy(bestOfTries, 0, state.part, 0, coarse.n);
    state.recompute();
  }
}
