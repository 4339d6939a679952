/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering.dissection;

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

  /** In thousandths. */
  private static final int MIN_GAIN = 0;

  private final SeparatorState state;
  private boolean thorough = true;

  SeparatorRefinement(SeparatorState state) {
    this.state = state;
  }

  /** Sets whether passes continue for long without a gain (the default). */
  void thorough(boolean wanted) {
    thorough = wanted;
  }

  boolean thorough() {
    return thorough;
  }

  /**
   * Improves the separator until a pass gains nothing.
   *
   * @param maxSide weight that neither side should exceed
   * @param maxPasses passes at most
   */
  void refine(int maxSide, int maxPasses, DissectionRandom random) {
    state.open();
    int pass = 0;
    while (pass < maxPasses && pass(maxSide, random)) {
      pass++;
    }
    state.close();
  }

  private boolean pass(int maxSide, DissectionRandom random) {
    SeparatorState s = state;
    int members = s.memberCount();
    s.queueAll(members == 0 ? 0 : random.next(members));
    int[] weight = s.weight;
    int bestMoves = 0;
    int bestSeparator = weight[SeparatorState.SEPARATOR];
    int bestExcess = Math.max(0, Math.max(weight[0], weight[1]) - maxSide);
    int bestDifference = Math.abs(weight[0] - weight[1]);
    int patience = patience(members);
    int excessBefore = bestExcess;
    int separatorBefore = bestSeparator;
    for (int to = chooseSide(maxSide); to >= 0; to = chooseSide(maxSide)) {
      s.move(s.toward[to].top(), to);
      int separator = weight[SeparatorState.SEPARATOR];
      int excess = Math.max(0, Math.max(weight[0], weight[1]) - maxSide);
      int difference = Math.abs(weight[0] - weight[1]);
      boolean improves =
          excess < bestExcess
              || excess == bestExcess
                  && (separator < bestSeparator
                      || separator == bestSeparator && difference < bestDifference);
      if (improves) {
        bestMoves = s.moves();
        bestSeparator = separator;
        bestExcess = excess;
        bestDifference = difference;
      } else if (s.moves() - bestMoves > patience) {
        break;
      }
    }
    s.undoTo(bestMoves);
    return bestExcess < excessBefore
        || (long) 1000 * (separatorBefore - bestSeparator) > (long) MIN_GAIN * separatorBefore;
  }

  private int patience(int members) {
    int atLeast = thorough ? PATIENCE : PATIENCE_OF_SMALL;
    int wanted = Math.max(atLeast, Math.min(PATIENCE_AT_MOST, members / 2));
    return Math.max(PATIENCE_AT_LEAST, Math.min((thorough ? 2 : 1) * members, wanted));
  }

  /**
   * The side to move to next: the one with the greater gain that keeps the balance, or -1 if
   * nothing can move.
   */
  private int chooseSide(int maxSide) {
    SeparatorState s = state;
    GainBuckets toward0 = s.toward[0];
    GainBuckets toward1 = s.toward[1];
    boolean empty0 = toward0.isEmpty();
    boolean empty1 = toward1.isEmpty();
    int light = s.weight[0] <= s.weight[1] ? 0 : 1;
    if (s.weight[1 - light] > maxSide) {
      return s.toward[light].isEmpty() ? -1 : light;
    }
    boolean fits0 = !empty0 && fits(0, maxSide);
    boolean fits1 = !empty1 && fits(1, maxSide);
    if (fits0 && fits1) {
      int g0 = toward0.gain(toward0.top());
      int g1 = toward1.gain(toward1.top());
      return g0 > g1 ? 0 : g1 > g0 ? 1 : light;
    }
    return fits0 ? 0 : fits1 ? 1 : -1;
  }

  private boolean fits(int side, int maxSide) {
    return state.weight[side] + state.memberWeight(state.toward[side].top()) <= maxSide;
  }
}
