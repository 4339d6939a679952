/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering;

/**
 * Refinement of a vertex separator by moves of single vertices, after Fiduccia and Mattheyses as
 * Ashcraft and Liu (1998) and Hendrickson and Rothberg (1998) apply it to separators. A pass moves
 * members to either side by greatest gain, each at most once, continues through losses for a while,
 * and then returns to the best state found. O(separator x degree x log) a pass.
 */
final class SeparatorRefinement {
  /** Least number of moves without a gain before a pass gives up; more for larger separators. */
  private static final int PATIENCE_AT_LEAST = 15;

  private static final int PATIENCE = 100;
  private static final int PATIENCE_OF_SMALL = 40;
  private static final int PATIENCE_AT_MOST = 300;

  private final SeparatorState state;
  private boolean thorough = true;
  private int[] locked = new int[0];
  private int stamp;

  private int[] moved = new int[0];
  private int[] pulledEnd = new int[0];
  private int[] pulled = new int[0];
  private int moves;
  private int pulls;

  SeparatorRefinement(SeparatorState state) {
    this.state = state;
  }

  /** Sets whether passes continue for long without a gain (the default). */
  void thorough(boolean wanted) {
    thorough = wanted;
  }

  /**
   * Improves the separator until a pass gains nothing.
   *
   * @param maxSide weight that neither side should exceed
   * @param maxPasses passes at most
   */
  void refine(int maxSide, int maxPasses, DissectionRandom random) {
    reserve(state.graph().n);
    for (int pass = 0; pass < maxPasses; pass++) {
      if (!pass(maxSide, random)) {
        return;
      }
    }
  }

  private void reserve(int n) {
    if (locked.length < n) {
      locked = new int[n];
      stamp = 0;
      moved = new int[n];
      pulledEnd = new int[n];
      pulled = new int[n];
    }
  }

  private boolean pass(int maxSide, DissectionRandom random) {
    SeparatorState s = state;
    GainBuckets[] toward = s.toward;
    fillQueues(random);
    stamp++;
    moves = 0;
    pulls = 0;
    int[] weight = s.weight;
    int bestMoves = 0;
    int bestSeparator = weight[SeparatorState.SEPARATOR];
    int bestExcess = Math.max(0, Math.max(weight[0], weight[1]) - maxSide);
    int bestDifference = Math.abs(weight[0] - weight[1]);
    int patience = patience(s.memberCount);
    boolean better = false;
    while (moves < locked.length) {
      int to = chooseSide(maxSide);
      if (to < 0) {
        break;
      }
      int v = toward[to].top();
      toward[0].remove(v);
      toward[1].remove(v);
      if (pulls + s.graph().degree(v) > pulled.length) {
        pulled = java.util.Arrays.copyOf(pulled, 2 * (pulls + s.graph().degree(v)));
      }
      move(v, to);
      int separator = weight[SeparatorState.SEPARATOR];
      int excess = Math.max(0, Math.max(weight[0], weight[1]) - maxSide);
      int difference = Math.abs(weight[0] - weight[1]);
      boolean improves =
          excess < bestExcess
              || excess == bestExcess
                  && (separator < bestSeparator
                      || separator == bestSeparator && difference < bestDifference);
      if (improves) {
        better |= excess < bestExcess || separator < bestSeparator;
        bestMoves = moves;
        bestSeparator = separator;
        bestExcess = excess;
        bestDifference = difference;
      } else if (moves - bestMoves > patience) {
        break;
      }
    }
    undoTo(bestMoves);
    return better;
  }

  private int patience(int members) {
    int atLeast = thorough ? PATIENCE : PATIENCE_OF_SMALL;
    int wanted = Math.max(atLeast, Math.min(PATIENCE_AT_MOST, members / 2));
    return Math.max(PATIENCE_AT_LEAST, Math.min((thorough ? 2 : 1) * members, wanted));
  }

  private void fillQueues(DissectionRandom random) {
    SeparatorState s = state;
    s.emptyQueues();
    int count = s.memberCount;
    int offset = count == 0 ? 0 : random.next(count);
    for (int i = 0; i < count; i++) {
      int at = i + offset;
      int v = s.members[at < count ? at : at - count];
      s.recomputePull(v);
      s.toward[0].insert(v, s.gain(v, 0));
      s.toward[1].insert(v, s.gain(v, 1));
    }
  }

  /**
   * The side to move to next: the one with the greater gain that keeps the balance, or -1 if
   * nothing can move.
   */
  private int chooseSide(int maxSide) {
    SeparatorState s = state;
    boolean empty0 = s.toward[0].isEmpty();
    boolean empty1 = s.toward[1].isEmpty();
    int light = s.weight[0] <= s.weight[1] ? 0 : 1;
    if (s.weight[1 - light] > maxSide) {
      return s.toward[light].isEmpty() ? -1 : light;
    }
    boolean fits0 = !empty0 && fits(0, maxSide);
    boolean fits1 = !empty1 && fits(1, maxSide);
    if (fits0 && fits1) {
      int g0 = s.gain(s.toward[0].top(), 0);
      int g1 = s.gain(s.toward[1].top(), 1);
      return g0 > g1 ? 0 : g1 > g0 ? 1 : light;
    }
    return fits0 ? 0 : fits1 ? 1 : -1;
  }

  private boolean fits(int side, int maxSide) {
    return state.weight[side] + state.graph().vertexWeight[state.toward[side].top()] <= maxSide;
  }

  private void move(int v, int to) {
    SeparatorState s = state;
    WeightedGraph g = s.graph();
    s.release(v, to);
    locked[v] = stamp;
    int other = 1 - to;
    for (int e = g.start[v]; e < g.start[v + 1]; e++) {
      int u = g.neighbor[e];
      if (s.part[u] == other) {
        s.pullIn(u);
        pulled[pulls++] = u;
        if (locked[u] != stamp) {
          // moving it back would only pull v in again, so it may only move to v's side
          s.toward[to].insert(u, s.gain(u, to));
        }
      }
    }
    moved[moves] = v;
    pulledEnd[moves++] = pulls;
  }

  private void undoTo(int count) {
    SeparatorState s = state;
    s.emptyQueues();
    while (moves > count) {
      int v = moved[--moves];
      int other = 1 - s.part[v];
      s.takeBackRelease(v);
      int first = moves == 0 ? 0 : pulledEnd[moves - 1];
      while (pulls > first) {
        s.takeBackPull(pulled[--pulls], other);
      }
    }
  }
}
