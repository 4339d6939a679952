/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factor;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.spark.engine.Held;
import io.sparqr.spark.parts.Parts;
import io.sparqr.spark.stored.TaskOutput;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.storage.StorageLevel;
import org.junit.jupiter.api.Test;

/** A task without Spark runs once for all that it makes, and again only for what is missing. */
class LevelHereTest {

  private static final Keeping R = new Keeping.OnHost(false);

  private final List<String> runs = new ArrayList<>();

  private TaskResult run(int task, Keeping keeping) {
    runs.add(task + (keeping.factor() ? " for R" : " for blocks"));
    var kept = new TaskOutput.Report(new byte[] {(byte) task});
    return new TaskResult(
        List.of(new byte[] {(byte) (10 + task)}),
        keeping.factor() ? List.<TaskOutput>of(kept).iterator() : List.<TaskOutput>of().iterator(),
        List.of());
  }

  @Test
  void oneRunMakesBothAndBlocksAreNotHeldLongerThanTheyAreNeeded() {
    var level = new LevelHere(1, R, this::run);
    try (var held = new Held()) {
      Parts<TaskOutput> kept = level.kept().persist(StorageLevel.MEMORY_ONLY(), held);
      Parts<byte[]> passed = level.passed().persist(StorageLevel.MEMORY_ONLY(), held);
      assertThat(kept.collect()).hasSize(1);
      assertThat(passed.collect()).containsExactly(new byte[] {10});
      assertThat(passed.collect()).containsExactly(new byte[] {10});
      assertThat(runs).containsExactly("0 for R");
      passed.release();
      assertThat(kept.collect()).hasSize(1);
      assertThat(runs).hasSize(1);
      assertThat(passed.collect()).containsExactly(new byte[] {10});
      assertThat(runs).containsExactly("0 for R", "0 for blocks");
      passed.release();
      kept.release();
      assertThat(kept.collect()).hasSize(1);
      // that run's blocks are dropped: nobody would come for them
      assertThat(passed.collect()).containsExactly(new byte[] {10});
      assertThat(runs).containsExactly("0 for R", "0 for blocks", "0 for R", "0 for blocks");
    }
  }
}
