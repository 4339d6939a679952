/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.reference;

import io.sparqr.backend.schedule.DeviceReplay;
import io.sparqr.backend.schedule.FrontDescriptor;
import io.sparqr.backend.schedule.FrontDevices;
import io.sparqr.backend.schedule.SchedulerOptions;
import io.sparqr.backend.schedule.Task;
import io.sparqr.backend.schedule.TaskLayout;
import io.sparqr.backend.staged.StageSums;
import io.sparqr.backend.staged.executor.KeptRows;
import io.sparqr.backend.staged.executor.RoundExecutor;
import io.sparqr.backend.staged.layout.DeviceStage;
import io.sparqr.backend.staged.layout.StageProgram;
import io.sparqr.numeric.BitChecksum;
import io.sparqr.numeric.integrity.ColumnSums;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.IntUnaryOperator;

/**
 * Runs a stage on several simulated devices: what {@link DeviceStage} means. Each has arrays of its
 * own, and NaN where it has no values yet, so a task that reads what is not on its device spoils
 * its front. Tasks run in any order that their counts allow.
 *
 * <p>A stage in which rows of dead columns would have to cross is done again on one device.
 */
final class DevicesExecutor implements RoundExecutor {

  private final SchedulerOptions options;
  private final Function<StageProgram, FrontDevices> map;
  private final long availableBytes;

  /** Chooses the next of those that are ready; null: in list order. */
  private final IntUnaryOperator choice;

  private final TaskListExecutor alone;
  private final AnnouncedSolves solves = new AnnouncedSolves();

  /** Whether the last stage was done on one device in the end. */
  private boolean again;

  private StageProgram program;
  private FrontDevices devices;
  private StageTasks[] on;
  private boolean[][] begun;

  /** Stages run, those of them done again, copies, and fronts that were shared or crossed. */
  int stages;

  int repeated;
  long copies;
  int shared;
  int crossed;

  DevicesExecutor(
      SchedulerOptions options,
      Function<StageProgram, FrontDevices> map,
      long availableBytes,
      IntUnaryOperator choice) {
    this.options = options;
    this.map = map;
    this.availableBytes = availableBytes;
    this.choice = choice;
    alone = new TaskListExecutor(options);
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
    solves.forget();
    program = p;
    devices = map.apply(p);
    DeviceStage stage = DeviceStage.of(p, devices, options, 1);
    on = new StageTasks[devices.devices()];
    begun = new boolean[on.length][p.fronts()];
    for (int d = 0; d < on.length; d++) {
      StageProgram its = stage.programs().get(d);
      on[d] = d == 0 ? new StageTasks(its, in, tolerance) : new StageTasks(its, on[0]);
      Arrays.fill(on[d].vt, Double.NaN);
      for (int f = 0; f < p.fronts(); f++) {
        if (stage.schedule().arrives(f, d) && !devices.on(f, d)) {
          FrontDescriptor image = its.descriptor(f);
          int start = (int) (image.data() + (long) image.fp() * image.ld() + image.fp());
          Arrays.fill(on[d].arena, start, start + image.cm() * image.ld(), Double.NaN);
        }
      }
    }
    for (int f = 0; f < p.fronts(); f++) {
      shared += devices.shared(f) ? 1 : 0;
      crossed += stage.schedule().crosses(f) ? 1 : 0;
    }
    var replay = new DeviceReplay(stage.schedule(), p.fronts());
    stages++;
    copies += replay.pulls();
    var work = new Values();
    if (choice == null) {
      replay.inOrder(work);
    } else {
      replay.freely(choice, work);
    }
    again = Arrays.stream(on).anyMatch(t -> t.unsuited);
    if (again) {
      repeated++;
      // Its values have been counted.
      return alone.execute(p, new Stored(p, on[0].entry, on[0].input), tolerance, sink);
    }
    int[] state = states(p);
    sink.underWay();
    if (!sink.later()) {
      rows(p, state, sink);
    }
    return new Result(state, on[0].residual.clone(), 0, 0);
  }

  private int[] states(StageProgram p) {
    int[] state = new int[p.fronts()];
    Arrays.setAll(state, f -> on[devices.home(f)].state[f]);
    return state;
  }

  private void rows(StageProgram p, int[] state, RowSink sink) {
    for (int f = 0; f < p.fronts(); f++) {
      if (TaskLayout.isDone(state[f]) && p.outLength(f) > 0) {
        RowDelivery.of(p, on[0].out, f, sink);
      }
    }
  }

  @Override
  public void deliver(StageProgram p, RowSink sink) {
    if (again) {
      alone.deliver(p, sink);
      return;
    }
    rows(p, states(p), sink);
  }

  /** The values of a stage as the first device has them. */
  private record Stored(StageProgram p, double[] entry, double[] input) implements StageInput {

    @Override
    public void writeS(int from, int to, DoubleBuffer target) {
      int at = (int) p.descriptor(from).sFrom();
      target.put(entry, at, (int) p.descriptor(to - 1).sTo() - at);
    }

    @Override
    public void writeBlock(int block, long from, long to, DoubleBuffer target) {
      FrontDescriptor d = p.descriptor(p.fronts() + block);
      target.put(input, (int) (d.data() + from), (int) (to - from));
    }

    @Override
    public List<Part> parts(int front, int doubles) {
      throw new AssertionError("these devices take S whole");
    }

    @Override
    public void writePart(Part part, DoubleBuffer target) {
      throw new AssertionError("these devices take S whole");
    }
  }

  /** Tasks on the arrays. */
  private final class Values implements DeviceReplay.Work {

    @Override
    public void task(int device, Task task) {
      if (task instanceof Task.Pull t) {
        pull(device, t);
        return;
      }
      if (task instanceof Task.Announce) {
        return;
      }
      if (task instanceof Task.Factorize
          || task instanceof Task.Apply
          || task instanceof Task.ApplyFactorize) {
        begin(device, task.front());
      }
      on[device].run(task);
    }

    /** Takes away what assembly has left in column tiles of other devices. */
    private void begin(int device, int f) {
      if (begun[device][f] || !devices.shared(f)) {
        return;
      }
      begun[device][f] = true;
      FrontDescriptor d = on[device].program.descriptor(f);
      for (int c = 0; c < d.columnTiles(); c++) {
        for (int i = 0; devices.owner(f, c) != device && i < d.rowTiles() * TaskLayout.TILE; i++) {
          int at = (int) d.data() + i * d.ld() + c * TaskLayout.TILE;
          Arrays.fill(on[device].arena, at, at + TaskLayout.TILE, Double.NaN);
        }
      }
    }

    private void pull(int device, Task.Pull c) {
      StageTasks from = on[c.from()];
      StageTasks to = on[device];
      int f = c.front();
      if (devices.on(f, device)) {
        begin(device, f);
      }
      var part = new PulledPart(c, from.program.descriptor(f), to.program.descriptor(f));
      part.values(from.arena, from.vt, to.arena, to.vt);
      to.state[f] = part.state(from.state[f], to.state[f]);
    }
  }

  @Override
  public boolean solves(StageProgram p) {
    return true;
  }

  @Override
  public void solveAhead(StageProgram p, boolean both) {
    solves.announce(p, both);
    alone.solveAhead(p, both);
  }

  @Override
  public Solved backSubstitute(StageProgram p) {
    return again ? alone.backSubstitute(p) : PackedSolve.stored(solves.lists(false), on[0].out);
  }

  @Override
  public void copyRows(List<Slice> slices) {
    if (again) {
      alone.copyRows(slices);
      return;
    }
    for (Slice s : slices) {
      System.arraycopy(on[0].out, (int) s.from(), s.target(), 0, s.target().length);
    }
  }

  @Override
  public Optional<KeptRows> keep(StageProgram p) {
    return again
        ? alone.keep(p)
        : Optional.of(new HeapRows(solves.lists(true), on[0].out.clone(), null));
  }

  @Override
  public double[] fetch(ByteBuffer tasks, int count, int outDoubles) {
    if (again) {
      return alone.fetch(tasks, count, outDoubles);
    }
    long[] bits = new long[outDoubles];
    for (int d = 0; d < on.length; d++) {
      ByteBuffer mine =
          ByteBuffer.allocate(count * TaskLayout.TASK_BYTES).order(ByteOrder.LITTLE_ENDIAN);
      int n = 0;
      for (int k = 0; k < count; k++) {
        int at = k * TaskLayout.TASK_BYTES;
        if (devices.home(TaskLayout.front(tasks, at)) == d) {
          mine.put(n++ * TaskLayout.TASK_BYTES, tasks, at, TaskLayout.TASK_BYTES);
        }
      }
      double[] part = on[d].fetched(mine, n, outDoubles);
      for (int k = 0; k < outDoubles; k++) {
        bits[k] |= Double.doubleToRawLongBits(part[k]);
      }
    }
    return Arrays.stream(bits).mapToDouble(Double::longBitsToDouble).toArray();
  }

  @Override
  public long inputSums(StageProgram p, double[] scale, boolean[] counts, ColumnSums sums) {
    if (again) {
      return alone.inputSums(p, scale, counts, sums);
    }
    double[] entry = on[0].entry;
    double[] input = on[0].input;
    new StageSums(p, scale, sums).input(entry, input, counts);
    return BitChecksum.sum(entry) + BitChecksum.sum(input) + StageProgram.placeBits(p.sIndex());
  }

  @Override
  public long outputSums(StageProgram p, double[] scale, boolean[] counts, ColumnSums sums) {
    if (again) {
      return alone.outputSums(p, scale, counts, sums);
    }
    new StageSums(p, scale, sums).output(on[0].out, counts);
    long bits = 0;
    for (int f = 0; f < p.fronts(); f++) {
      int from = (int) p.outStart(f);
      bits += counts[f] ? BitChecksum.sum(on[0].out, from, from + p.outLength(f)) : 0;
    }
    return bits;
  }

  @Override
  public void safe(boolean isOn) {
    // This executor always uses reflectors.
  }

  @Override
  public void read(Region region, long from, double[] target) {
    if (again) {
      alone.read(region, from, target);
      return;
    }
    boolean arena = region == Region.ARENA;
    for (int f = 0; f < program.fronts(); f++) {
      StageTasks home = on[devices.home(f)];
      FrontDescriptor d = program.descriptor(f);
      long start = d.data();
      long end = start + d.doubles();
      long there = home.program.descriptor(f).data();
      if (!arena) {
        start = (long) program.schedule().firstSlot(f) * TaskLayout.VT_DOUBLES;
        end = (long) program.schedule().firstSlot(f + 1) * TaskLayout.VT_DOUBLES;
        there = start;
      }
      long first = Math.max(start, from);
      long last = Math.min(end, from + target.length);
      if (first < last) {
        System.arraycopy(
            arena ? home.arena : home.vt,
            (int) (there + first - start),
            target,
            (int) (first - from),
            (int) (last - first));
      }
    }
  }

  @Override
  public void close() {
    on = null;
    alone.close();
  }
}
