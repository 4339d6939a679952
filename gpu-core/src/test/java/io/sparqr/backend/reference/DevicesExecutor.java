/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.reference;

import io.sparqr.backend.schedule.DeviceCopy;
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
 * its front. Tasks and copies run in any order that their counts allow.
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

  /** The stage's rows from all devices. */
  private double[] out;

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
    double[] entry = new double[Math.toIntExact(p.sEntries())];
    in.writeS(0, p.fronts(), DoubleBuffer.wrap(entry));
    double[] input = new double[Math.toIntExact(p.inputDoubles())];
    DoubleBuffer blocks = DoubleBuffer.wrap(input);
    for (int b = 0; b < p.blocks(); b++) {
      in.writeBlock(b, blocks);
    }
    begun = new boolean[on.length][p.fronts()];
    for (int d = 0; d < on.length; d++) {
      on[d] =
          new StageTasks(
              stage.programs().get(d), new InputOf(p, entry, input, devices, d), tolerance);
      Arrays.fill(on[d].vt, Double.NaN);
      for (int f = 0; f < p.fronts(); f++) {
        if (stage.schedule().arrives(f, d) && !devices.on(f, d)) {
          FrontDescriptor image = on[d].program.descriptor(f);
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
    copies += replay.copies();
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
      return alone.execute(p, new InputOf(p, entry, input, null, 0), tolerance, sink);
    }
    out = new double[Math.toIntExact(p.outDoubles())];
    double[] residual = new double[p.residualSlots() * p.rhs()];
    int[] state = new int[p.fronts()];
    for (int f = 0; f < p.fronts(); f++) {
      StageTasks home = on[devices.home(f)];
      int length = p.outLength(f);
      System.arraycopy(home.out, (int) home.program.outStart(f), out, (int) p.outStart(f), length);
      state[f] = home.state[f];
      int end = f + 1 < p.fronts() ? p.schedule().residualStart(f + 1) : p.residualSlots();
      int from = p.schedule().residualStart(f) * p.rhs();
      System.arraycopy(home.residual, from, residual, from, end * p.rhs() - from);
    }
    sink.underWay();
    if (!sink.later()) {
      rows(p, state, sink);
    }
    return new Result(state, residual, 0, 0);
  }

  private void rows(StageProgram p, int[] state, RowSink sink) {
    for (int f = 0; f < p.fronts(); f++) {
      if (TaskLayout.isDone(state[f]) && p.outLength(f) > 0) {
        RowDelivery.of(p, out, f, sink);
      }
    }
  }

  @Override
  public void deliver(StageProgram p, RowSink sink) {
    if (again) {
      alone.deliver(p, sink);
      return;
    }
    int[] state = new int[p.fronts()];
    Arrays.setAll(state, f -> on[devices.home(f)].state[f]);
    rows(p, state, sink);
  }

  /** The values of fronts and blocks that one device has; devices null: all of them. */
  private record InputOf(
      StageProgram p, double[] entry, double[] input, FrontDevices devices, int device)
      implements StageInput {

    private boolean has(int front) {
      return devices == null || devices.on(front, device);
    }

    @Override
    public void writeS(int from, int to, DoubleBuffer target) {
      for (int f = from; f < to; f++) {
        if (has(f)) {
          int at = (int) p.descriptor(f).sFrom();
          target.put(entry, at, (int) p.descriptor(f).sTo() - at);
        }
      }
    }

    @Override
    public void writeBlock(int block, DoubleBuffer target) {
      FrontDescriptor d = p.descriptor(p.fronts() + block);
      if (has(d.parent())) {
        target.put(input, (int) d.data(), (int) (d.dataRhs() - d.data()) + d.fm() * d.rhs());
      }
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

  /** Tasks and copies on the arrays. */
  private final class Values implements DeviceReplay.Work {

    @Override
    public void task(int device, Task task) {
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

    @Override
    public void copy(DeviceCopy c) {
      StageTasks from = on[c.from()];
      StageTasks to = on[c.to()];
      int f = c.front();
      if (devices.on(f, c.to())) {
        begin(c.to(), f);
      }
      if (c.part() instanceof DeviceCopy.Bundle b) {
        int slot = b.slot() * TaskLayout.VT_DOUBLES;
        System.arraycopy(from.vt, slot, to.vt, slot, TaskLayout.VT_DOUBLES);
        for (int i : b.rowTiles()) {
          rectangle(c, i * TaskLayout.TILE, (i + 1) * TaskLayout.TILE, b.column(), b.column() + 1);
        }
      } else if (c.part() instanceof DeviceCopy.Tiles t) {
        int end = from.program.descriptor(f).columnTiles();
        for (int k = t.firstTile(); k < end; k++) {
          if (devices.owner(f, k) == c.from()) {
            rectangle(c, t.rowFrom(), t.rowTo(), k, k + 1);
          }
        }
        to.state[f] = Math.max(to.state[f], from.state[f]);
      } else if (c.part() instanceof DeviceCopy.Block b) {
        FrontDescriptor source = from.program.descriptor(f);
        FrontDescriptor target = to.program.descriptor(f);
        for (int i = b.rowFrom(); i < b.rowTo(); i++) {
          int width = b.columnTo() - b.columnFrom();
          System.arraycopy(
              from.arena,
              place(source, source.fp() + i, source.fp() + b.columnFrom()),
              to.arena,
              place(target, target.fp() + i, target.fp() + b.columnFrom()),
              width);
        }
        to.state[f] = from.state[f];
      }
    }

    private void rectangle(DeviceCopy c, int rowFrom, int rowTo, int tileFrom, int tileTo) {
      StageTasks from = on[c.from()];
      StageTasks to = on[c.to()];
      FrontDescriptor source = from.program.descriptor(c.front());
      FrontDescriptor target = to.program.descriptor(c.front());
      for (int i = rowFrom; i < rowTo; i++) {
        System.arraycopy(
            from.arena,
            place(source, i, tileFrom * TaskLayout.TILE),
            to.arena,
            place(target, i, tileFrom * TaskLayout.TILE),
            (tileTo - tileFrom) * TaskLayout.TILE);
      }
    }

    private int place(FrontDescriptor d, long row, int column) {
      return (int) (d.data() + row * d.ld() + column);
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
    return again ? alone.backSubstitute(p) : PackedSolve.stored(solves.lists(false), out);
  }

  @Override
  public void copyRows(List<Slice> slices) {
    if (again) {
      alone.copyRows(slices);
      return;
    }
    for (Slice s : slices) {
      System.arraycopy(out, (int) s.from(), s.target(), 0, s.target().length);
    }
  }

  @Override
  public Optional<KeptRows> keep(StageProgram p) {
    return again ? alone.keep(p) : Optional.of(new HeapRows(solves.lists(true), out.clone(), null));
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
    double[] entry = new double[(int) p.sEntries()];
    double[] input = new double[(int) p.inputDoubles()];
    for (int k = 0; k < p.fronts() + p.blocks(); k++) {
      FrontDescriptor d = p.descriptor(k);
      boolean front = k < p.fronts();
      StageTasks home = on[devices.home(front ? k : d.parent())];
      FrontDescriptor there = home.program.descriptor(k);
      if (front) {
        int length = (int) (d.sTo() - d.sFrom());
        System.arraycopy(home.entry, (int) there.sFrom(), entry, (int) d.sFrom(), length);
      } else {
        int length = (int) (d.dataRhs() - d.data()) + d.fm() * d.rhs();
        System.arraycopy(home.input, (int) there.data(), input, (int) d.data(), length);
      }
    }
    new StageSums(p, scale, sums).input(entry, input, counts);
    return BitChecksum.sum(entry) + BitChecksum.sum(input) + StageProgram.placeBits(p.sIndex());
  }

  @Override
  public long outputSums(StageProgram p, double[] scale, boolean[] counts, ColumnSums sums) {
    if (again) {
      return alone.outputSums(p, scale, counts, sums);
    }
    new StageSums(p, scale, sums).output(out, counts);
    long bits = 0;
    for (int f = 0; f < p.fronts(); f++) {
      int from = (int) p.outStart(f);
      bits += counts[f] ? BitChecksum.sum(out, from, from + p.outLength(f)) : 0;
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
