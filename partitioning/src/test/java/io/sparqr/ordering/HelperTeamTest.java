/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class HelperTeamTest {

  @Test
  void everyPieceOfManyShortLoopsIsRunOnce() {
    try (var team = new HelperTeam(2, "once")) {
      // Plain ints: a piece run twice, or seen too late by the caller, would show.
      int[] runs = new int[40];
      int[] workers = new int[40];
      for (int loop = 1; loop <= 3000; loop++) {
        int pieces = loop % 41;
        int number = loop;
        team.run(
            pieces,
            (piece, worker) -> {
              runs[piece]++;
              workers[piece] = worker + 3 * number;
            });
        for (int piece = 0; piece < runs.length; piece++) {
          assertThat(runs[piece]).isEqualTo(piece < pieces ? 1 : 0);
          if (piece < pieces) {
            assertThat(workers[piece] / 3).isEqualTo(loop);
          }
          runs[piece] = 0;
        }
      }
    }
  }

  /** Both pieces wait until the other one has begun. */
  @Test
  void helpersTakePartAfterTheyHaveSlept() throws InterruptedException {
    try (var team = new HelperTeam(1, "slept")) {
      for (int k = 0; k < 3; k++) {
        while (team.awake()) {
          Thread.sleep(1);
        }
        var both = new CyclicBarrier(2);
        team.run(2, (piece, worker) -> await(both));
      }
    }
  }

  private static void await(CyclicBarrier barrier) {
    try {
      barrier.await(60, TimeUnit.SECONDS);
    } catch (InterruptedException | BrokenBarrierException | TimeoutException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void whatAPieceThrowsReachesTheCallerAfterAllOthersAreDone() {
    try (var team = new HelperTeam(2, "throws")) {
      for (int loop = 0; loop < 100; loop++) {
        int[] done = new int[9];
        int bad = loop % 9;
        assertThatThrownBy(
                () ->
                    team.run(
                        9,
                        (piece, worker) -> {
                          if (piece == bad) {
                            throw new IllegalStateException("piece " + piece);
                          }
                          done[piece] = 1;
                        }))
            .isInstanceOf(IllegalStateException.class)
            .hasMessage("piece " + bad);
        done[bad] = 1;
        assertThat(done).containsOnly(1);
      }
      // and none of it comes again
      team.run(9, (piece, worker) -> {});
    }
  }

  @Test
  void noThreadIsLeft() throws InterruptedException {
    for (boolean asleep : new boolean[] {false, true}) {
      List<Thread> ours = new ArrayList<>();
      try (var team = new HelperTeam(3, "left")) {
        Thread[] all = new Thread[Thread.activeCount() + 10];
        int count = Thread.enumerate(all);
        for (int k = 0; k < count; k++) {
          if (all[k].getName().startsWith("left-")) {
            ours.add(all[k]);
          }
        }
        while (asleep && team.awake()) {
          Thread.sleep(1);
        }
        // an interrupted caller leaves none either, and stays interrupted
        Thread.currentThread().interrupt();
      }
      assertThat(Thread.interrupted()).isTrue();
      assertThat(ours).hasSize(3).noneMatch(Thread::isAlive);
    }
  }
}
