/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

import io.sparqr.threads.Parallel;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * The active fronts of all rounds in pieces of about the same work, for threads: the first rounds
 * have thousands of small fronts each, the last ones a single large one.
 */
final class RoundPieces {

  /** Active fronts of a piece, and its rounds, at most. */
  private static final int ACTIVE = 2048;

  private static final int ROUNDS = 16;

  private final FrontTimes times;

  /** First places in {@link FrontTimes#active}, and the end. */
  private final int[] start;

  RoundPieces(FrontTimes times) {
    this.times = times;
    int end = times.activeStart[times.rounds];
    int[] begin = new int[times.rounds / ROUNDS + end / ACTIVE + 3];
    int count = 0;
    int since = 0;
    for (int r = 0; r < times.rounds; r++) {
      int to = times.activeStart[r + 1];
      if (r - since >= ROUNDS) {
        begin[++count] = times.activeStart[r];
        since = r;
      }
      while (to - begin[count] > ACTIVE) {
        begin[count + 1] = begin[count] + ACTIVE;
        count++;
        since = r;
      }
    }
    if (end > begin[count]) {
      begin[++count] = end;
    }
    start = Arrays.copyOf(begin, count + 1);
  }

  /** Work on active fronts [from, to) of a round. */
  interface Part {
    void run(int round, int from, int to);
  }

  /** Runs the work on all pieces, several at a time. */
  void forEach(int threads, Part part) {
    Parallel.loop(
        start.length - 1,
        1,
        threads,
        (from, to, t) -> {
          int at = start[from];
          int r = Arrays.binarySearch(times.activeStart, at);
          // the last of several rounds that start here has fronts
          r = r < 0 ? -r - 2 : r;
          while (at < start[to]) {
            int end = Math.min(start[to], times.activeStart[r + 1]);
            if (end > at) {
              part.run(r, at, end);
              at = end;
            }
            r++;
          }
        });
  }

  /**
   * Counts all tasks, by front into {@code needs}, which then has the sums.
   *
   * @return by round and place of a kind: the first task of them in the list; and the end
   */
  long[] count(Emitter tasks, FrontCounts needs, int threads) {
    var kinds = new AtomicLongArray(times.rounds * TaskLayout.KINDS);
    forEach(
        threads,
        (r, from, to) -> {
          var counter = new TaskCounter(needs);
          for (int e = from; e < to; e++) {
            tasks.emit(r, times.active[e], counter);
            counter.end();
          }
          for (int k = 0; k < TaskLayout.KINDS; k++) {
            kinds.addAndGet(r * TaskLayout.KINDS + TaskLayout.place(k), counter.kinds()[k]);
          }
        });
    long[] kindStart = new long[kinds.length() + 1];
    for (int k = 0; k < kinds.length(); k++) {
      kindStart[k + 1] = kindStart[k] + kinds.get(k);
    }
    needs.finish(threads);
    return kindStart;
  }
}
