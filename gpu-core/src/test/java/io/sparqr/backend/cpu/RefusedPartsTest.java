/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.numeric.DeviceCases;
import io.sparqr.numeric.FactorOptions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** In which order, and how many beside each other, the parts of a refused group go. */
class RefusedPartsTest {

  private static final int FIRST = 100;

  private final RefusedGroup group = group();

  private static RefusedGroup group() {
    var state =
        new SubtreeState(
            DeviceCases.whole("gen:cells2d60"),
            new FactorOptions(1e-8, 3, 0).gram(true),
            (tree, i) -> true);
    int root = state.frontCount() - 1;
    return new RefusedGroup(state, state.groups().members(root), 0, "why");
  }

  @Test
  void eachPartGoesOnceAfterThoseBelowItAndBesideOthersIfThereIsRoom() {
    long most = 0;
    for (int p = 0; p < group.parts(); p++) {
      most = Math.max(most, group.bytes(p));
    }
    for (long seed = 0; seed < 20; seed++) {
      long room = seed % 3 == 0 ? 0 : seed % 3 == 1 ? most + most / 2 : 4 * most;
      int beside = run(new Random(seed), room);
      assertThat(beside)
          .as("seed %d: parts side by side", seed)
          .isBetween(room == 0 ? 1 : 2, room == 0 ? 1 : group.parts());
    }
  }

  /** Runs all parts; returns the most that were under way together. */
  private int run(Random random, long room) {
    var parts = new RefusedParts(FIRST);
    parts.open(7, group, room);
    int[] waits = group.pending();
    List<Integer> running = new ArrayList<>();
    boolean[] done = new boolean[group.parts()];
    int beside = 0;
    int ended = -1;
    while (ended < 0) {
      int unit = parts.next();
      if (unit >= 0) {
        assertThat(parts.has(unit)).isTrue();
        assertThat(waits[unit - FIRST]).as("parts below %d", unit - FIRST).isZero();
        running.add(unit);
        beside = Math.max(beside, running.size());
        long bytes = running.stream().mapToLong(u -> group.bytes(u - FIRST)).sum();
        assertThat(running.size() == 1 || bytes <= room).isTrue();
        if (random.nextBoolean()) {
          continue;
        }
      }
      assertThat(running).as("no part may run and none does").isNotEmpty();
      int finished = running.remove(random.nextInt(running.size()));
      assertThat(done[finished - FIRST]).isFalse();
      done[finished - FIRST] = true;
      Arrays.stream(group.above(finished - FIRST)).forEach(p -> waits[p]--);
      ended = parts.finished(finished);
    }
    assertThat(ended).isEqualTo(7);
    assertThat(running).isEmpty();
    assertThat(parts.isWaiting()).isFalse();
    for (boolean d : done) {
      assertThat(d).isTrue();
    }
    return beside;
  }
}
