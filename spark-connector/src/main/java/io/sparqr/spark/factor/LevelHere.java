/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factor;

import io.sparqr.spark.parts.Parts;
import io.sparqr.spark.stored.TaskOutput;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;

/**
 * What the tasks of one level make in this JVM alone, the counterpart of {@link FactorRdd} and
 * {@link PassedRdd}: a run that makes what a task keeps leaves its contribution blocks here until
 * they are taken, once; who wants them again has the task run for them alone.
 */
final class LevelHere {

  /** Runs a task of the level. */
  @FunctionalInterface
  interface Work {
    TaskResult run(int index, Keeping keeping);
  }

  private final Keeping keeping;
  private final Work work;

  /** By task: blocks that wait; empty before the first run and after they are taken. */
  private final List<Optional<List<byte[]>>> waiting;

  private final boolean[] taken;

  LevelHere(int count, Keeping keeping, Work work) {
    this.keeping = keeping;
    this.work = work;
    this.waiting = new ArrayList<>(Collections.nCopies(count, Optional.empty()));
    this.taken = new boolean[count];
  }

  /** What the tasks keep; runs them each time. */
  Parts<TaskOutput> kept() {
    return Parts.here(taken.length, this::keep);
  }

  /** The contribution blocks that the tasks of this level pass on, as frames. */
  Parts<byte[]> passed() {
    return Parts.here(
        taken.length,
        i -> take(i).orElseGet(() -> work.run(i, new Keeping.Nothing()).passed()).iterator());
  }

  private Iterator<TaskOutput> keep(int task) {
    TaskResult result = work.run(task, keeping);
    leave(task, result.passed());
    return result.kept();
  }

  private synchronized void leave(int task, List<byte[]> blocks) {
    if (!taken[task]) {
      waiting.set(task, Optional.of(blocks));
    }
  }

  private synchronized Optional<List<byte[]>> take(int task) {
    taken[task] = true;
    return waiting.set(task, Optional.empty());
  }
}
