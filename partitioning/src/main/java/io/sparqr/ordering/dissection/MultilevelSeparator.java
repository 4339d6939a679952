/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering.dissection;

import io.sparqr.ordering.graph.WeightedGraph;
import io.sparqr.threads.ParallelLoop;
import java.util.Deque;
import java.util.concurrent.ConcurrentLinkedDeque;

/**
 * Multilevel vertex separators (Karypis and Kumar 1998): coarsen, separate the coarsest graph
 * several times, project the best separator back with refinement at every level. For a large graph
 * the coarse half of the hierarchy, which is cheap, is built and separated several times in
 * parallel; small graphs are not coarsened. The result competes with separators by distance ({@link
 * DistanceSeparators}), which in large graphs, and in dense ones of middle size, are measured while
 * the graph is coarsened and refined while the multilevel one is projected back. The object keeps
 * scratch arrays and belongs to one thread; parallel work goes to other objects of this class. The
 * separator depends on graph and seed alone.
 */
final class MultilevelSeparator {
  /** METIS's default: neither side beyond 0.6 of the weight (1.2 times half). */
  static final double MAX_SIDE = 0.6;

  /**
   * In smaller graphs separators by distance and one that is grown do as well, in half the time.
   */
  private static final int MULTILEVEL_FROM = 800;

  private static final int REPEAT_FROM = 10_000;

  /** Smaller graphs with this many adjacency entries are worth several threads, too. */
  private static final int PARALLEL_FROM = 60_000;

  private static final int REPEATS = 8;
  private static final int LEVELS_BEFORE_REPEATS = 6;
  private static final int INITIAL_TRIES = 7;
  private static final int INITIAL_PASSES = 4;
  private static final int PASSES = 6;

  /** Passes over a coarse separator, which is refined again on the next level. */
  private static final int COARSE_PASSES = 3;

  private static final int COARSEST = 100;
  private static final int COARSEST_AT_LEAST = 40;

  /**
   * Smaller graphs are many and matter little: they get fewer tries, and passes that give up
   * earlier.
   */
  private static final int SMALL = 2000;

  private static final int INITIAL_TRIES_OF_SMALL = 2;

  /** A separator by distance that weighs this many times the one to beat is not worth refining. */
  private static final int HOPELESS = 4;

  /** As above, while the one to beat is still coarse, and so heavier than after refinement. */
  private static final int HOPELESS_AGAINST_COARSE = 3;

  /** Coarsening stops when a step leaves more than this fraction of the vertices. */
  private static final double STALLED = 0.95;

  /**
   * The cost of imbalance: a side of 0.6 makes a separator count 2% heavier, about what it adds to
   * the flops of the two sides of a cube.
   */
  private static final double IMBALANCE_COST = 0.5;

  private final SeparatorState state = new SeparatorState();
  private final SeparatorRefinement refinement = new SeparatorRefinement(state);
  private final InitialSeparator initial = new InitialSeparator(state, refinement);
  private final DistanceSeparators distances = new DistanceSeparators();
  private final CoarseningSpace space = new CoarseningSpace();
  private final Best bestOfTries = new Best();
  private final Best best = new Best();
  private final Deque<MultilevelSeparator> idle;

  MultilevelSeparator() {
    this(new ConcurrentLinkedDeque<>());
  }

  /**
   * A separator with helpers shared among several.
   *
   * @param idle separators free for use; more are added as needed
   */
  MultilevelSeparator(Deque<MultilevelSeparator> idle) {
    this.idle = idle;
  }

  /**
   * The best of several separators: the cheapest, and among equals the one with the lowest number.
   */
  private static final class Best {
    private final int[] weight = new int[3];
    private double cost;
    private int number;
    private int[] part = new int[0];

    void reset() {
      cost = Double.POSITIVE_INFINITY;
      number = Integer.MAX_VALUE;
    }

    synchronized void offer(SeparatorState s, double itsCost, int itsNumber) {
      if (itsCost < cost || itsCost == cost && itsNumber < number) {
        cost = itsCost;
        number = itsNumber;
        System.arraycopy(s.weight, 0, weight, 0, weight.length);
        int n = s.graph().n;
        part = part.length < n ? new int[n] : part;
        System.arraycopy(s.part, 0, part, 0, n);
      }
    }

    void restoreTo(SeparatorState s, WeightedGraph g) {
      s.bind(g);
      System.arraycopy(part, 0, s.part, 0, g.n);
      s.recompute();
    }
  }

  /**
   * A hierarchy of graphs in the space of the object that made it: level k + 1 is the coarse graph
   * of level k.
   */
  private record Hierarchy(WeightedGraph finest, Coarsening[] steps, int depth) {
    WeightedGraph graph(int level) {
      return level == 0 ? finest : steps[level - 1].coarse();
    }
  }

  /**
   * The separator of the last call: 0, 1, or 2 for the separator, by vertex; longer than the graph
   * at times. The caller may write to it.
   */
  int[] part() {
    return best.part;
  }

  /** Weights of side 0, side 1 and the separator of the last call. */
  int[] weight() {
    return best.weight;
  }

  /**
   * Separates a graph of at least two vertices. O((n + entries) log) in practice.
   *
   * @return false, with nothing separated, if the graph is not connected
   */
  boolean separate(WeightedGraph g, long seed) {
    refinement.thorough(g.n >= SMALL);
    best.reset();
    DissectionRandom random = new DissectionRandom(seed);
    if (!distances.connected(g, random.next(g.n))) {
      return false;
    }
    if (g.n >= REPEAT_FROM || g.entries() >= PARALLEL_FROM) {
      separateInParallel(g, seed);
      return true;
    }
    int maxSide = maxSide(g);
    if (g.n >= MULTILEVEL_FROM) {
      separateOnce(g, random);
    } else {
      state.bind(g);
      initial.grow(maxSide, PASSES, random);
    }
    best.offer(state, cost(maxSide), 0);
    distances.measure(g);
    for (int which = 0; which < DistanceSeparators.CANDIDATES; which++) {
      long heaviest = (long) HOPELESS * best.weight[SeparatorState.SEPARATOR];
      if (distances.candidate(g, which, heaviest, state)) {
        refinement.refine(maxSide, PASSES, random);
        best.offer(state, cost(maxSide), 1 + which);
      }
    }
    return true;
  }

  private void separateInParallel(WeightedGraph g, long seed) {
    Hierarchy[] hierarchy = new Hierarchy[1];
    ParallelLoop.run(
        2,
        side -> {
          if (side == 0) {
            hierarchy[0] = separateCoarse(g, new DissectionRandom(seed));
          } else {
            distances.measure(g);
          }
        });
    Hierarchy levels = hierarchy[0];
    long heaviest = (long) HOPELESS_AGAINST_COARSE * bestOfTries.weight[SeparatorState.SEPARATOR];
    int maxSide = maxSide(g);
    ParallelLoop.run(
        1 + DistanceSeparators.CANDIDATES,
        number -> {
          MultilevelSeparator helper = borrow();
          DissectionRandom random = new DissectionRandom(DissectionRandom.mix(seed, 2 + number));
          if (number == 0) {
            bestOfTries.restoreTo(helper.state, levels.graph(levels.depth));
            helper.carryUp(levels, maxSide, random);
            best.offer(helper.state, helper.cost(maxSide), number);
          } else {
            helper.state.bind(g);
            if (distances.candidate(g, number - 1, heaviest, helper.state)) {
              helper.refinement.refine(maxSide, PASSES, random);
              best.offer(helper.state, helper.cost(maxSide), number);
            }
          }
          idle.push(helper);
        });
  }

  /** Coarsens and leaves the best separator of the coarsest level in {@code bestOfTries}. */
  private Hierarchy separateCoarse(WeightedGraph g, DissectionRandom random) {
    int maxSide = maxSide(g);
    if (g.n < REPEAT_FROM) {
      Hierarchy levels = coarsen(g, coarsest(g), Integer.SIZE, random);
      bestInitial(levels.graph(levels.depth), maxSide, random);
      return levels;
    }
    Hierarchy levels = coarsen(g, COARSEST, LEVELS_BEFORE_REPEATS, random);
    WeightedGraph coarse = levels.graph(levels.depth);
    long repeatSeed = random.nextLong();
    bestOfTries.reset();
    ParallelLoop.run(
        REPEATS,
        run -> {
          MultilevelSeparator helper = borrow();
          helper.separateOnce(coarse, new DissectionRandom(DissectionRandom.mix(repeatSeed, run)));
          bestOfTries.offer(helper.state, helper.cost(maxSide), run);
          idle.push(helper);
        });
    return levels;
  }

  /** A helper with the same settings as this object. */
  private MultilevelSeparator borrow() {
    MultilevelSeparator helper = idle.poll();
    helper = helper != null ? helper : new MultilevelSeparator(idle);
    helper.refinement.thorough(refinement.thorough());
    return helper;
  }

  /** One multilevel separator, left in the state. */
  private void separateOnce(WeightedGraph g, DissectionRandom random) {
    Hierarchy levels = coarsen(g, coarsest(g), Integer.SIZE, random);
    int maxSide = maxSide(g);
    bestInitial(levels.graph(levels.depth), maxSide, random);
    bestOfTries.restoreTo(state, levels.graph(levels.depth));
    carryUp(levels, maxSide, random);
  }

  private static int coarsest(WeightedGraph g) {
    return Math.max(COARSEST_AT_LEAST, Math.min(g.n / 8, COARSEST));
  }

  private Hierarchy coarsen(WeightedGraph g, int coarsenTo, int maxDepth, DissectionRandom random) {
    Coarsening[] steps = new Coarsening[maxDepth];
    int maxWeight = (int) Math.min(Integer.MAX_VALUE, 1 + 1.5 * g.totalWeight / coarsenTo);
    int depth = 0;
    WeightedGraph coarse = g;
    while (coarse.n > coarsenTo && depth < maxDepth && coarse.entries() > 0) {
      Coarsening next = Coarsening.of(coarse, maxWeight, random.nextLong(), space, depth);
      if (next.coarse().n > STALLED * coarse.n) {
        break;
      }
      steps[depth++] = next;
      coarse = next.coarse();
    }
    return new Hierarchy(g, steps, depth);
  }

  /** Leaves the best of several separators of a small graph in {@code bestOfTries}. */
  private void bestInitial(WeightedGraph coarse, int maxSide, DissectionRandom random) {
    state.bind(coarse);
    bestOfTries.reset();
    int tries = refinement.thorough() ? INITIAL_TRIES : INITIAL_TRIES_OF_SMALL;
    for (int run = 0; run < tries; run++) {
      initial.grow(maxSide, INITIAL_PASSES, random);
      bestOfTries.offer(state, cost(maxSide), run);
    }
  }

  private void carryUp(Hierarchy levels, int maxSide, DissectionRandom random) {
    for (int level = levels.depth - 1; level >= 0; level--) {
      state.project(levels.graph(level), levels.steps[level].map());
      refinement.refine(maxSide, level == 0 ? PASSES : COARSE_PASSES, random);
    }
  }

  private static int maxSide(WeightedGraph g) {
    return (int) Math.max(MAX_SIDE * g.totalWeight, g.totalWeight / 2 + 1);
  }

  /**
   * The cost to minimise: first a side's excess over the limit, then the weight, then the
   * imbalance.
   */
  private double cost(int maxSide) {
    int[] w = state.weight;
    int excess = Math.max(0, Math.max(w[0], w[1]) - maxSide);
    double imbalance = Math.abs(w[0] - w[1]) / (1.0 + w[0] + w[1]);
    return 1e6 * excess
        + w[SeparatorState.SEPARATOR] * (1 + IMBALANCE_COST * imbalance * imbalance)
        + 0.01 * imbalance;
  }
}
