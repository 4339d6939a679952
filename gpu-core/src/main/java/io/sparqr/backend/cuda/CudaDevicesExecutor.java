/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import io.sparqr.backend.cuda.resident.DeviceSession;
import io.sparqr.backend.cuda.resident.DeviceSession.SharedStage;
import io.sparqr.backend.cuda.transfer.StageMemory.Part;
import io.sparqr.backend.cuda.transfer.StageUpload;
import io.sparqr.backend.schedule.FrontDescriptor;
import io.sparqr.backend.schedule.FrontDevices;
import io.sparqr.backend.schedule.SchedulerOptions;
import io.sparqr.backend.schedule.StageSchedule;
import io.sparqr.backend.schedule.TaskLayout;
import io.sparqr.backend.staged.executor.KeptRows;
import io.sparqr.backend.staged.executor.RoundExecutor;
import io.sparqr.backend.staged.layout.DeviceStage;
import io.sparqr.backend.staged.layout.KeptPlans;
import io.sparqr.backend.staged.layout.StageProgram;
import io.sparqr.numeric.DeviceTimeline;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.integrity.ColumnSums;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Runs stages on several devices ({@link DeviceStage}), those that a {@link DeviceChoice} takes
 * more than one for; others run on the first device as if there were no others. The input and the
 * output of a stage lie on the first device, which the others reach, so all that follows the rounds
 * is done there by {@link CudaRoundExecutor}.
 *
 * <p>The launches of all devices run beside each other and wait for each other's announcements. Two
 * that have the same device would keep each other from running; they take turns, a round at a time.
 *
 * <p>Not thread-safe; holds its device memory until close().
 */
final class CudaDevicesExecutor implements RoundExecutor {

  private final CudaRoundExecutor first;
  private final DeviceTeam team;
  private final DeviceChoice choice;
  private final SchedulerOptions options;

  /** The last stage laid out. */
  private @Nullable DeviceStage laidOut;

  /** The last stage, if several devices ran it. */
  private @Nullable DeviceStage shared;

  private boolean closed;

  /** What devices did in the last stage, if it was timed. */
  private List<DeviceTimeline> timelines = List.of();

  /** Devices that ran stages of the last task. */
  private int used = 1;

  /** Stages run by several devices, and those of them that the first did again. */
  private int together;

  private int again;

  /**
   * An executor on sessions that the caller returns after closing it.
   *
   * @param sessions at least one; the same one several times: they take turns
   * @throws IllegalArgumentException if they are neither of one device nor all of different ones
   */
  CudaDevicesExecutor(
      List<DeviceSession> sessions,
      DeviceChoice choice,
      long limitBytes,
      int threads,
      SchedulerOptions options,
      TestModes modes) {
    this.choice = choice;
    this.options = options;
    first = new CudaRoundExecutor(sessions.get(0), limitBytes, threads, options, modes);
    boolean done = false;
    try {
      team = new DeviceTeam(first, sessions, threads, options, modes);
      done = true;
    } finally {
      if (!done) {
        first.close();
      }
    }
  }

  @Override
  public String device() {
    return String.join(
        " + ", team.lanes().stream().limit(used).map(l -> l.device().name()).toList());
  }

  @Override
  public long availableBytes() {
    return first.availableBytes();
  }

  @Override
  public SchedulerOptions schedulerOptions() {
    return options;
  }

  @Override
  public void task(SubtreeProblem problem) {
    used = 1;
    choice.task(problem);
  }

  @Override
  public Optional<String> remark() {
    return choice.remark();
  }

  /** Milliseconds of the last stage's rounds on the first device, if it ran them alone. */
  double kernelMillis() {
    return first.kernelMillis();
  }

  /** The first device, where input and output of stages lie. */
  DeviceLane first() {
    return first.lane();
  }

  /** Stages that several devices have run. */
  int together() {
    return together;
  }

  /** Those of them that the first device did again. */
  int again() {
    return again;
  }

  @Override
  public Result execute(StageProgram program, StageInput input, double tolerance, RowSink sink) {
    shared = null;
    timelines = List.of();
    DeviceStage stage = stageOf(program);
    if (stage == null || !team.prepare(stage)) {
      team.forget();
      first.lane().device().bind();
      Result alone = first.execute(program, input, tolerance, sink);
      timelines = first.timelines();
      return alone;
    }
    Result result = team.run(stage, input, tolerance, sink);
    timelines = team.timelines();
    together++;
    used = Math.max(used, stage.programs().size());
    if (suited(stage, result.state())) {
      shared = stage;
      deliver(stage.one(), result, sink);
      return result;
    }
    team.forget();
    again++;
    Result repeated = first.again(program, tolerance, new Heard(sink));
    timelines = Stream.concat(timelines.stream(), first.timelines().stream()).toList();
    return repeated;
  }

  /** The stage on several devices; null: on the first alone. */
  @SuppressWarnings("ReferenceEquality")
  private @Nullable DeviceStage stageOf(StageProgram program) {
    if (laidOut != null && laidOut.one() == program) {
      return laidOut;
    }
    team.forget();
    keepPlan();
    int among = team.lanes().size();
    laidOut = kept().take(s -> s.serves(program, among)).map(SharedStage::stage).orElse(null);
    if (laidOut != null) {
      return laidOut;
    }
    FrontDevices devices = choice.of(program).orElse(null);
    if (devices == null || team.lanes().size() == 1) {
      return null;
    }
    laidOut = DeviceStage.of(program, devices, options, first.lane().workers().threads());
    return laidOut;
  }

  private KeptPlans<SharedStage> kept() {
    return first.lane().session().stages();
  }

  /** Leaves the last stage to later tasks. */
  private void keepPlan() {
    if (laidOut != null) {
      kept().keep(new SharedStage(laidOut, team.lanes().size()));
      laidOut = null;
    }
  }

  /** Whether no leftover rows of dead columns would have gone with a block that crossed. */
  private static boolean suited(DeviceStage stage, int[] state) {
    for (int f = 0; f < state.length; f++) {
      if (state[f] == TaskLayout.STATE_DEAD
          && stage.schedule().crosses(f)
          && stage.one().descriptor(f).drop() != 0) {
        return false;
      }
    }
    return true;
  }

  /** Gives the first device the states of all fronts, and the sink its rows. */
  private void deliver(StageProgram one, Result result, RowSink sink) {
    DeviceLane lane = first.lane();
    new StageUpload(lane.transfers(), lane.memory()).states(result.state()).run(lane.workers());
    if (!sink.later()) {
      first.deliver(one, sink);
    }
  }

  @Override
  public void deliver(StageProgram program, RowSink sink) {
    first.deliver(program, sink);
  }

  /** A sink that has been told that the stage is under way. */
  private record Heard(RowSink sink) implements RowSink {

    @Override
    public boolean later() {
      return sink.later();
    }

    @Override
    public void accept(int front, DoubleBuffer rows) {
      sink.accept(front, rows);
    }

    @Override
    public RowPieces begin(int front, int length) {
      return sink.begin(front, length);
    }
  }

  @Override
  public boolean solves(StageProgram program) {
    return first.solves(program);
  }

  @Override
  public Solved backSubstitute(StageProgram program) {
    return first.backSubstitute(program);
  }

  @Override
  public Optional<KeptRows> keep(StageProgram program) {
    return first.keep(program);
  }

  @Override
  public boolean hasRoom(StageProgram program) {
    return first.hasRoom(program);
  }

  @Override
  public void solveAhead(StageProgram program, boolean both) {
    first.solveAhead(program, both);
  }

  @Override
  public void copyRows(List<Slice> slices) {
    first.copyRows(slices);
  }

  @Override
  public double[] fetch(ByteBuffer tasks, int count, int outDoubles) {
    DeviceStage stage = shared;
    if (stage == null) {
      return first.fetch(tasks, count, outDoubles);
    }
    double[] all = new double[outDoubles];
    for (int d = 0; d < stage.programs().size(); d++) {
      ByteBuffer mine =
          ByteBuffer.allocate(count * TaskLayout.TASK_BYTES).order(ByteOrder.LITTLE_ENDIAN);
      int n = 0;
      for (int k = 0; k < count; k++) {
        int at = k * TaskLayout.TASK_BYTES;
        if (stage.schedule().map().home(TaskLayout.front(tasks, at)) == d) {
          mine.put(n++ * TaskLayout.TASK_BYTES, tasks, at, TaskLayout.TASK_BYTES);
        }
      }
      double[] part = team.fetch(d, mine, n, outDoubles);
      for (int k = 0; k < outDoubles; k++) {
        // Each place has one writer; elsewhere there are zeros of no sign.
        all[k] = Double.doubleToRawLongBits(part[k]) != 0 ? part[k] : all[k];
      }
    }
    first.lane().device().bind();
    return all;
  }

  @Override
  public long inputSums(StageProgram program, double[] scale, boolean[] counts, ColumnSums sums) {
    return first.inputSums(program, scale, counts, sums);
  }

  @Override
  public long outputSums(StageProgram program, double[] scale, boolean[] counts, ColumnSums sums) {
    return first.outputSums(program, scale, counts, sums);
  }

  @Override
  public void sumAhead(StageProgram program, double[] scale) {
    first.sumAhead(program, scale);
  }

  @Override
  public Compared compare(StageProgram program, double[] scale, double[] residualSquares) {
    return first.compare(program, scale, residualSquares);
  }

  @Override
  public void timed(boolean on) {
    first.timed(on);
  }

  @Override
  public List<DeviceTimeline> timelines() {
    return timelines;
  }

  @Override
  public void safe(boolean on) {
    first.safe(on);
    if (on) {
      team.forget();
    }
  }

  @Override
  public void read(Region region, long from, double[] target) {
    DeviceStage stage = shared;
    if (stage == null) {
      first.read(region, from, target);
      return;
    }
    boolean arena = region == Region.ARENA;
    StageProgram one = stage.one();
    for (int f = 0; f < one.fronts(); f++) {
      int home = stage.schedule().map().home(f);
      FrontDescriptor d = one.descriptor(f);
      StageSchedule slots = stage.programs().get(home).schedule();
      long start = arena ? d.data() : (long) one.schedule().firstSlot(f) * TaskLayout.VT_DOUBLES;
      long end =
          arena
              ? start + d.doubles()
              : (long) one.schedule().firstSlot(f + 1) * TaskLayout.VT_DOUBLES;
      long there =
          arena
              ? stage.programs().get(home).descriptor(f).data()
              : (long) slots.firstSlot(f) * TaskLayout.VT_DOUBLES;
      long begin = Math.max(start, from);
      long last = Math.min(end, from + target.length);
      if (begin < last) {
        double[] part = new double[Math.toIntExact(last - begin)];
        DeviceLane lane = team.lanes().get(home);
        lane.device().bind();
        lane.download(
            lane.memory().get(arena ? Part.ARENA : Part.VT),
            List.of(new Slice(there + begin - start, part)));
        System.arraycopy(part, 0, target, (int) (begin - from), part.length);
      }
    }
    first.lane().device().bind();
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      keepPlan();
      team.close();
      first.close();
    }
  }
}
