/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factor;

import static org.assertj.core.api.Assertions.as;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.sparqr.error.InputChangedException;
import io.sparqr.error.InsufficientMemoryException;
import io.sparqr.partition.SubtreeTask;
import io.sparqr.spark.LocalSpark;
import io.sparqr.spark.engine.Engine;
import io.sparqr.spark.stored.KeptFronts;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaRDD;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;

/** A task that runs out of memory ends its level with one error, and its job does not fail. */
class TaskRefusalTest {

  private static final SubtreeTask TASK =
      new SubtreeTask(7, 1, new int[] {3, 4}, new int[0], new int[0], 0, 1e6, 5L << 20, 5L << 20);
  private static final AtomicInteger RUNS = new AtomicInteger();

  private interface Work extends Supplier<TaskResult>, Serializable {}

  /** A level of three tasks from 6 on, of which task 7 does this. */
  private static JavaRDD<byte[]> level(Work work) {
    return LocalSpark.context()
        .parallelize(List.of(6, 7, 8), 3)
        .mapPartitions(
            it ->
                it.next() == 7
                    ? KeptFronts.frames(
                        TaskRefusal.guarded(TASK, 6, TaskContext.get(), work).kept(), k -> true)
                    : List.of(TaskReportTest.report(6, 0, "").encode()).iterator());
  }

  private static List<List<byte[]>> each(JavaRDD<byte[]> level) {
    return level.collect().stream().map(List::of).toList();
  }

  private static TaskResult hungry() {
    RUNS.incrementAndGet();
    var all = new ArrayList<byte[]>();
    for (int k = 0; k < 1000; k++) {
      all.add(new byte[Integer.MAX_VALUE - 8]);
    }
    return new TaskResult(all, Collections.emptyIterator(), List.of());
  }

  @Test
  void aTaskWithoutMemorySaysWhatWasForetoldAndIsTriedOnce() {
    RUNS.set(0);
    JavaRDD<byte[]> level = level(TaskRefusalTest::hungry);
    Throwable e =
        catchThrowable(
            () -> TaskRefusal.lookingFor(Engine.of(LocalSpark.context()), 6, () -> each(level)));
    assertThat(e)
        .isInstanceOf(InsufficientMemoryException.class)
        .hasMessageMatching(
            "task 7 \\(level 2, 2 fronts\\) ran out of memory: 5 MB were predicted for its rows,"
                + " fronts and blocks, the heap has [0-9,]+ MB: Java heap space; set spark.executor.memory.*")
        .extracting(t -> t.getCause().toString(), as(InstanceOfAssertFactories.STRING))
        .contains("java.lang.OutOfMemoryError: Java heap space");
    assertThat(((InsufficientMemoryException) e).requiredBytes()).isEqualTo(5L << 20);
    assertThat(((InsufficientMemoryException) e).availableBytes())
        .isEqualTo(Runtime.getRuntime().maxMemory());
    assertThat(RUNS).hasValue(1);
    assertThat(LocalSpark.context().getLocalProperty("sparqr-first-task-of-the-level")).isNull();
  }

  @Test
  void changedInputIsHandedOverToo() {
    var changed = new InputChangedException("partition 3 has 4 rows, had 5", 3, 5, 4, 9, 8);
    JavaRDD<byte[]> level =
        level(
            () -> {
              throw changed;
            });
    assertThat(
            catchThrowable(
                () ->
                    TaskRefusal.lookingFor(Engine.of(LocalSpark.context()), 6, () -> each(level))))
        .isInstanceOf(InputChangedException.class)
        .hasMessage(changed.getMessage());
  }

  @Test
  void whereNobodyLooksItIsThrown() {
    JavaRDD<byte[]> level = level(TaskRefusalTest::hungry);
    assertThat(
            catchThrowable(
                () ->
                    TaskRefusal.lookingFor(Engine.of(LocalSpark.context()), 5, () -> each(level))))
        .hasMessageContaining("Job aborted")
        .as("with an OutOfMemoryError among its causes it would have ended this JVM")
        .hasRootCauseInstanceOf(InsufficientMemoryException.class);
  }

  /** Whether each of two tasks of the level from 6 on sees its first run. */
  private static List<Boolean> firstRuns() {
    return LocalSpark.context()
        .parallelize(List.of(6, 7), 2)
        .map(task -> TaskRefusal.isFirstRun(TaskContext.get(), 6))
        .collect();
  }

  /** While the reports of another level are collected, or none, R may be stored already. */
  @Test
  void aTaskIsInItsFirstRunOnlyWhileItsLevelIsLookedFor() {
    List<byte[]> none = List.of(TaskReportTest.report(6, 0, "").encode());
    var seen = new ArrayList<List<Boolean>>();
    seen.add(firstRuns());
    for (int level : new int[] {6, 8}) {
      TaskRefusal.lookingFor(
          Engine.of(LocalSpark.context()),
          level,
          () -> {
            seen.add(firstRuns());
            return List.of(none);
          });
    }
    seen.add(firstRuns());
    assertThat(seen)
        .containsExactly(
            List.of(false, false),
            List.of(true, true),
            List.of(false, false),
            List.of(false, false));
  }
}
