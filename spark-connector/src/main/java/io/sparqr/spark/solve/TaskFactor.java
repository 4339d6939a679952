/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.solve;

import io.sparqr.partition.SubtreeTask;
import io.sparqr.spark.factor.TaskReport;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.stored.FactorSegment;
import io.sparqr.spark.stored.KeptFronts;
import io.sparqr.spark.stored.Reading;
import io.sparqr.spark.stored.TaskOutput;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.threads.TreeUnits;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;

/** One task's rows of R, front by front, read in place, and its fronts as a forest. */
public final class TaskFactor implements AutoCloseable {

  private static final int SHARES_PER_THREAD = 16;

  /** The analysis with these fronts. */
  private final SymbolicAnalysis analysis;

  private final SolvePlan plan;
  private final SubtreeTask task;
  private final int threads;
  private final int[] fronts;
  private final List<FactorSegment> segments;
  private final Reading reading = new Reading();

  /** By front of the task: its segments are [start[i], start[i + 1]). */
  private final int[] start;

  /**
   * Opens a task's stored content and verifies it, several fronts at a time, because that is as
   * much work as a solve.
   *
   * @param kept the result of {@code SubtreeRun}
   * @param threads threads for each task
   */
  public TaskFactor(SolvePlan plan, Iterator<TaskOutput> kept, int[] threads) {
    this(plan, kept, threads, true);
  }

  /**
   * As above.
   *
   * @param verify false: the reader checks the rows ({@link FactorSegment#unchecked})
   */
  TaskFactor(SolvePlan plan, Iterator<TaskOutput> kept, int[] threads, boolean verify) {
    this.plan = plan;
    this.analysis = plan.analysis();
    this.task = plan.partition().tasks().get(TaskReport.of(kept.next()).task());
    this.threads = threads[task.id()];
    this.fronts = task.fronts();
    this.segments = KeptFronts.rows(kept, this.threads, reading, verify);
    this.start = new int[fronts.length + 1];
    int next = 0;
    for (int i = 0; i < fronts.length; i++) {
      while (next < segments.size() && segments.get(next).front() == fronts[i]) {
        next++;
      }
      start[i + 1] = next;
    }
    if (next < segments.size()) {
      throw new IllegalStateException(
          "rows of front " + segments.get(next).front() + " among those of task " + task.id());
    }
  }

  /** Ends the reading; the rows may then be freed. */
  @Override
  public void close() {
    reading.close();
  }

  /** The task. */
  public SubtreeTask task() {
    return task;
  }

  /** Threads for the task. */
  public int threads() {
    return threads;
  }

  /** Number of fronts. */
  public int count() {
    return fronts.length;
  }

  /** Front i of the task; fronts ascend. */
  public int front(int i) {
    return fronts[i];
  }

  /** The index of a front in the task; negative if it belongs to another task. */
  public int index(int front) {
    return Arrays.binarySearch(fronts, front);
  }

  /** The rows of R of front i, in order. */
  public List<FactorSegment> rows(int i) {
    return segments.subList(start[i], start[i + 1]);
  }

  /** Whether the parent of front i belongs to another task. */
  public boolean isOutput(int i) {
    int above = analysis.parent(fronts[i]);
    return above >= 0 && plan.taskOf(above) != task.id();
  }

  /**
   * The lowest ancestor of front i in the task, or -1. It differs from the parent only in the rare
   * case that fronts of other tasks without work lie between two subtrees of this one.
   */
  public int above(int i) {
    int above = analysis.parent(fronts[i]);
    while (above >= 0 && plan.taskOf(above) != task.id()) {
      above = analysis.parent(above);
    }
    return above < 0 ? -1 : index(above);
  }

  /** The forest cut for the task's threads. */
  public TreeUnits cut(double[] work) {
    int[] parent = new int[fronts.length];
    for (int i = 0; i < parent.length; i++) {
      parent[i] = above(i);
    }
    return TreeUnits.cut(work, parent, threads == 1 ? 1 : SHARES_PER_THREAD * threads);
  }
}
