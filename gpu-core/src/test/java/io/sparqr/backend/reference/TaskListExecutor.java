/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.reference;

import io.sparqr.backend.schedule.SchedulerOptions;
import io.sparqr.backend.schedule.StageSchedule;
import io.sparqr.backend.schedule.TaskLayout;
import io.sparqr.backend.staged.StageSums;
import io.sparqr.backend.staged.executor.KeptRows;
import io.sparqr.backend.staged.executor.RoundExecutor;
import io.sparqr.backend.staged.layout.StageProgram;
import io.sparqr.numeric.BitChecksum;
import io.sparqr.numeric.integrity.ColumnSums;
import io.sparqr.numeric.integrity.IntegrityFailure;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.IntUnaryOperator;

/**
 * Runs task lists in plain Java; {@link StageTasks} specifies what each task does.
 *
 * <p>Tasks run in list order, or for tests in another one: any order within a round, and across
 * rounds any order in which a task's front has reached the counts of finished tasks in its record.
 * The result is the same to the bit.
 */
public final class TaskListExecutor implements RoundExecutor {

  /** The order of the tasks within a round; for tests. */
  @FunctionalInterface
  public interface RoundOrder {
    /** A permutation of 0 .. tasks-1. */
    int[] order(int round, int tasks);
  }

  /** The source of the records of rounds [from, to); for tests that corrupt them. */
  @FunctionalInterface
  interface TaskLists {
    /** Little-endian records, from index 0 on. */
    ByteBuffer of(StageSchedule schedule, int from, int to);
  }

  private final SchedulerOptions options;
  private final long availableBytes;
  private final RoundOrder order;
  private final TaskLists lists;

  /** Chooses the next of the ready tasks, which are in list order; null: round by round. */
  private final IntUnaryOperator choice;

  /** size fronts each; finished tasks that others wait for. */
  private int[] chainDone;

  private int[] bulkDone;

  /** Not private: tests inject faults. */
  StageTasks stage;

  private final AnnouncedSolves solves = new AnnouncedSolves();

  /** Runs tasks in list order; a stage may take half of the heap. */
  public TaskListExecutor(SchedulerOptions options) {
    this(options, Runtime.getRuntime().maxMemory() / 2, null);
  }

  /** With a given memory limit and order; order null: list order. */
  public TaskListExecutor(SchedulerOptions options, long availableBytes, RoundOrder order) {
    this(options, availableBytes, order, null, TaskListExecutor::written);
  }

  /** Runs every task once its counts allow, in the order of {@code choice}. */
  public TaskListExecutor(SchedulerOptions options, IntUnaryOperator choice) {
    this(options, Runtime.getRuntime().maxMemory() / 2, null, choice, TaskListExecutor::written);
  }

  /** With either kind of order, and other lists than the schedule's. */
  TaskListExecutor(
      SchedulerOptions options,
      long availableBytes,
      RoundOrder order,
      IntUnaryOperator choice,
      TaskLists lists) {
    this.options = options;
    this.availableBytes = availableBytes;
    this.order = order;
    this.choice = choice;
    this.lists = lists;
  }

  /** The schedule's records of rounds [from, to). */
  static ByteBuffer written(StageSchedule schedule, int from, int to) {
    long tasks = schedule.roundStart(to) - schedule.roundStart(from);
    ByteBuffer list =
        ByteBuffer.allocate(Math.toIntExact(TaskLayout.TASK_BYTES * tasks))
            .order(ByteOrder.LITTLE_ENDIAN);
    schedule.write(from, to, list);
    return list;
  }

  @Override
  public String device() {
    return "";
  }

  @Override
  public long availableBytes() {
    return availableBytes;
  }

  @Override
  public SchedulerOptions schedulerOptions() {
    return options;
  }

  @Override
  public Result execute(StageProgram p, StageInput in, double tolerance, RowSink sink) {
    begin(p, in, tolerance);
    boolean early = choice == null && !sink.later();
    EarlyRows rows = early ? new EarlyRows(p, stage.out, stage.state, sink) : null;
    if (choice != null) {
      runFreely();
    }
    for (int r = 0; choice == null && r < p.schedule().rounds(); r++) {
      runRound(r);
      if (early) {
        rows.after(r);
      }
    }
    sink.underWay();
    if (!early && !sink.later()) {
      deliver(p, sink);
    }
    return new Result(stage.state.clone(), stage.residual.clone(), 0, 0);
  }

  @Override
  public void deliver(StageProgram p, RowSink sink) {
    for (int f = 0; f < p.fronts(); f++) {
      if (TaskLayout.isDone(stage.state[f]) && p.outLength(f) > 0) {
        RowDelivery.of(p, stage.out, f, sink);
      }
    }
  }

  @Override
  public boolean solves(StageProgram p) {
    return true;
  }

  @Override
  public void solveAhead(StageProgram p, boolean both) {
    solves.announce(p, both);
  }

  @Override
  public Solved backSubstitute(StageProgram p) {
    return PackedSolve.stored(solves.lists(false), stage.out);
  }

  @Override
  public void copyRows(List<Slice> slices) {
    for (Slice s : slices) {
      System.arraycopy(stage.out, (int) s.from(), s.target(), 0, s.target().length);
    }
  }

  @Override
  public Optional<KeptRows> keep(StageProgram p) {
    return Optional.of(new HeapRows(solves.lists(true), stage.out.clone(), choice));
  }

  private void begin(StageProgram p, StageInput in, double tolerance) {
    solves.forget();
    // The last stage's arrays must not be there beside the next one's.
    stage = null;
    stage = new StageTasks(p, in, tolerance);
    chainDone = new int[p.fronts()];
    bulkDone = new int[p.fronts()];
  }

  private void runRound(int r) {
    ByteBuffer list = lists.of(stage.program.schedule(), r, r + 1);
    int tasks = list.capacity() / TaskLayout.TASK_BYTES;
    int[] at = order == null ? null : order.order(r, tasks);
    for (int k = 0; k < tasks; k++) {
      int number = at == null ? k : at[k];
      int place = number * TaskLayout.TASK_BYTES;
      checkKind(list, place, stage.program.schedule().roundStart(r) + number);
      if (!mayRun(list, place)) {
        throw new IntegrityFailure(
            "round "
                + r
                + ": a task needs one that comes later: "
                + TaskLayout.decode(list, place));
      }
      runAndCount(list, place);
    }
  }

  private void runFreely() {
    ByteBuffer list = lists.of(stage.program.schedule(), 0, stage.program.schedule().rounds());
    int left = list.capacity() / TaskLayout.TASK_BYTES;
    int[] place = new int[left];
    Arrays.setAll(place, k -> k * TaskLayout.TASK_BYTES);
    for (int k = 0; k < left; k++) {
      checkKind(list, place[k], k);
    }
    int[] ready = new int[left];
    while (left > 0) {
      int count = 0;
      for (int k = 0; k < left; k++) {
        if (mayRun(list, place[k])) {
          ready[count++] = k;
        }
      }
      if (count == 0) {
        throw new IntegrityFailure(left + " tasks wait for each other");
      }
      int k = ready[choice.applyAsInt(count)];
      runAndCount(list, place[k]);
      left--;
      System.arraycopy(place, k + 1, place, k, left - k);
    }
  }

  /** As on a device: before the task waits for others, and whatever its front's state is. */
  private static void checkKind(ByteBuffer list, int at, long number) {
    if (TaskLayout.kind(list, at) >= TaskLayout.KINDS_OF_ONE) {
      throw IntegrityFailure.ofTask(number, TaskLayout.kind(list, at));
    }
  }

  private boolean mayRun(ByteBuffer list, int at) {
    if (TaskLayout.needChain(list, at) == 0 && TaskLayout.needBulk(list, at) == 0) {
      return true;
    }
    int f = TaskLayout.front(list, at);
    // A block from outside has no dependencies and no counts.
    return f < chainDone.length
        && Integer.compareUnsigned(chainDone[f], TaskLayout.needChain(list, at)) >= 0
        && Integer.compareUnsigned(bulkDone[f], TaskLayout.needBulk(list, at)) >= 0;
  }

  private void runAndCount(ByteBuffer list, int at) {
    stage.run(TaskLayout.decode(list, at));
    if (TaskLayout.countsForChain(list, at)) {
      chainDone[TaskLayout.front(list, at)]++;
    }
    int filled = TaskLayout.countsForBulk(list, at);
    if (filled >= 0) {
      bulkDone[filled]++;
    }
  }

  @Override
  public double[] fetch(ByteBuffer tasks, int count, int outDoubles) {
    return stage.fetched(tasks, count, outDoubles);
  }

  @Override
  public long inputSums(StageProgram p, double[] scale, boolean[] counts, ColumnSums sums) {
    new StageSums(p, scale, sums).input(stage.entry, stage.input, counts);
    return BitChecksum.sum(stage.entry)
        + BitChecksum.sum(stage.input)
        + StageProgram.placeBits(p.sIndex());
  }

  @Override
  public long outputSums(StageProgram p, double[] scale, boolean[] counts, ColumnSums sums) {
    new StageSums(p, scale, sums).output(stage.out, counts);
    long bits = 0;
    for (int f = 0; f < p.fronts(); f++) {
      int from = (int) p.outStart(f);
      bits += counts[f] ? BitChecksum.sum(stage.out, from, from + p.outLength(f)) : 0;
    }
    return bits;
  }

  @Override
  public void safe(boolean on) {
    // This executor always uses reflectors.
  }

  @Override
  public void read(Region region, long from, double[] target) {
    double[] source = region == Region.ARENA ? stage.arena : stage.vt;
    System.arraycopy(source, Math.toIntExact(from), target, 0, target.length);
  }

  @Override
  public void close() {
    stage = null;
  }
}
