/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

/**
 * The task lists of seeded stages are byte for byte those of the day when {@code pinned-lists.txt}
 * was written. If you change the schedule or the records on purpose, copy the test's output there.
 */
class PinnedListsTest {

  private static final int SEEDS = 60;

  @Test
  void everyByteIsWhatItWas() throws IOException {
    List<String> now = lines();
    List<String> then;
    try (InputStream in = getClass().getResourceAsStream("/pinned-lists.txt")) {
      assertThat(in).as("pinned-lists.txt").isNotNull();
      then = new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().toList();
    }
    assertThat(now).as(String.join("\n", now)).isEqualTo(then);
  }

  private static List<String> lines() {
    var lines = new ArrayList<String>();
    for (long seed = 1; seed <= SEEDS; seed++) {
      lines.add(line(seed, 1 + (int) (seed % 13), 2 + (int) (seed % 11)));
    }
    // Fronts so wide that fewer than 32 rows go to the output together.
    for (long seed = SEEDS + 1; seed <= SEEDS + 8; seed++) {
      lines.add(line(seed, 3, 90));
    }
    return lines;
  }

  private static String line(long seed, int fronts, int tiles) {
    var random = new RandomStages(seed, fronts, tiles);
    var schedule = SparseScheduler.schedule(random.stage, random.options, 2);
    return "seed " + seed + ", " + line(random.stage, schedule);
  }

  private static String line(StageFronts stage, StageSchedule s) {
    var places = new CRC32C();
    ByteBuffer word = ByteBuffer.allocate(8);
    for (int r = 0; r < s.rounds(); r++) {
      // No stage here drops dead columns, so there is nothing after these kinds.
      for (int kind = 0; kind <= TaskLayout.APPLY; kind++) {
        places.update(word.clear().putLong(s.kindStart(r, kind)).flip());
      }
    }
    for (int f = 0; f < stage.fronts; f++) {
      places.update(word.clear().putInt(s.firstSlot(f)).putInt(s.residualStart(f)).flip());
    }
    byte[] list = new byte[Math.toIntExact(s.tasks() * TaskLayout.TASK_BYTES)];
    Arrays.fill(list, (byte) 0x5a);
    s.write(0, s.rounds(), ByteBuffer.wrap(list).order(ByteOrder.LITTLE_ENDIAN));
    var bytes = new CRC32C();
    bytes.update(list);
    return "%d fronts, %d rounds, %d tasks, %d slots, %s flops: places %08x, records %08x"
        .formatted(
            stage.fronts,
            s.rounds(),
            s.tasks(),
            s.vtSlots(),
            Double.toHexString(s.flops()),
            places.getValue(),
            bytes.getValue());
  }
}
