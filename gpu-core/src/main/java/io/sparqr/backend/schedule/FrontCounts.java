/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

import io.sparqr.error.IndexOverflowException;
import io.sparqr.threads.Parallel;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * The number of tasks in each round of each front, and hence the dependencies of a task: an
 * executor may run a task as soon as its front has reached these counts, independently of all other
 * fronts.
 *
 * <p>Tasks of a front are counted in two groups. Chain: Factorize, Apply/Factorize and the Apply
 * tasks that lie next to them (APPLY_NEAR). Bulk: all assembly before the first round (S entries,
 * the children's blocks) and the other Apply tasks. Tasks of local round r need the chain of rounds
 * 0 .. r-1 and the bulk of all earlier rounds, except that Factorize and Apply/Factorize do not
 * need the bulk of round r-1, whose columns they do not touch: they run ahead of it.
 */
final class FrontCounts {

  private static final long MOST = 0xffffffffL;

  private final int[] start;

  /** By front and local round 0 .. L: chain tasks of earlier rounds; all sums unsigned. */
  private final int[] chain;

  /** By front and local round 0 .. L: bulk Apply tasks of earlier rounds. */
  private final int[] bulk;

  /** size fronts; assembly tasks of the front. */
  private final AtomicIntegerArray filling;

  FrontCounts(StageFronts stage) {
    this(stage, new int[stage.fronts]);
  }

  /**
   * Counts of fronts with rounds after their last.
   *
   * @param tail size fronts; rounds of each front after the one that passes its last rows on
   */
  FrontCounts(StageFronts stage, int[] tail) {
    start = new int[stage.fronts + 1];
    for (int f = 0; f < stage.fronts; f++) {
      int rounds = stage.rounds[f] == null ? 0 : stage.rounds[f].rounds();
      start[f + 1] = Math.addExact(start[f], rounds + 1 + tail[f]);
    }
    chain = new int[start[stage.fronts]];
    bulk = new int[start[stage.fronts]];
    filling = new AtomicIntegerArray(stage.fronts);
  }

  /** Sets the counts of a front's round; thread-safe for different rounds. */
  void set(int f, int local, int chainTasks, int bulkTasks) {
    chain[start[f] + local] = chainTasks;
    bulk[start[f] + local] = bulkTasks;
  }

  /** Adds assembly tasks of front f. Thread-safe. */
  void fill(int f, int tasks) {
    filling.accumulateAndGet(f, tasks, Math::addExact);
  }

  /** Turns the counts into sums over earlier rounds. */
  void finish(int threads) {
    Parallel.loop(filling.length(), 1 << 12, threads, (from, to, t) -> finish(from, to));
  }

  private void finish(int from, int to) {
    for (int f = from; f < to; f++) {
      long chainSum = 0;
      long bulkSum = filling.get(f);
      for (int k = start[f]; k < start[f + 1]; k++) {
        int c = chain[k];
        int b = bulk[k];
        chain[k] = (int) chainSum;
        bulk[k] = (int) bulkSum;
        chainSum += c;
        bulkSum += b;
      }
      if (bulkSum > MOST || chainSum > MOST) {
        throw new IndexOverflowException(
            "a front of " + bulkSum + " tasks exceeds 2^32", "front", bulkSum);
      }
    }
  }

  /** Chain tasks that must be done before local round {@code local} of front f. */
  int chain(int f, int local) {
    return chain[start[f] + local];
  }

  /** Bulk tasks that must be done before the Apply tasks of the round. */
  int bulk(int f, int local) {
    return bulk[start[f] + local];
  }

  /** Bulk tasks that must be done before the Factorize tasks of the round. */
  int bulkAhead(int f, int local) {
    return bulk[start[f] + Math.max(0, local - 1)];
  }
}
