/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.reference;

import io.sparqr.backend.cuda.transfer.StageMemory;
import io.sparqr.backend.cuda.transfer.StageMemory.Part;
import io.sparqr.backend.reference.PlainCalls.Block;
import io.sparqr.backend.reference.PlainCalls.Progress;
import io.sparqr.backend.schedule.FrontDescriptor;
import io.sparqr.backend.schedule.Task;
import io.sparqr.backend.schedule.TaskLayout;
import io.sparqr.backend.staged.layout.StageProgram;
import io.sparqr.numeric.DeviceTimeline.Cause;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * A launch of rounds on a device of {@link PlainCalls}: what {@code rounds.cu} does with
 * SparqrStage, one task after the other. Few blocks run at the same time, so a list whose tasks
 * wait for later ones does not end.
 */
final class PlainLaunch implements PlainCalls.Work {

  static final int BLOCKS = 4;
  private static final int BINS = 512;

  /** The place of SparqrStage.timeline. */
  static final int TIMELINE = 144;

  private final PlainCalls driver;
  private final int device;
  private final ByteBuffer stage;
  private final long first;
  private final int count;
  private int started;
  private final List<Running> running = new ArrayList<>();
  private StageTasks tasks;

  /** A block with a task. */
  private static final class Running {
    final long taken;

    /** The task's record as it was then. */
    final ByteBuffer record;

    /** What it waited for last; null: it has not waited. */
    Cause missing;

    Running(ByteBuffer record, long taken) {
      this.record = record;
      this.taken = taken;
    }
  }

  PlainLaunch(PlainCalls driver, int device, ByteBuffer stage, long first, int count) {
    this.driver = driver;
    this.device = device;
    this.stage = ByteBuffer.allocate(stage.capacity()).order(ByteOrder.nativeOrder());
    this.stage.put(0, stage, 0, stage.capacity());
    this.first = first;
    this.count = count;
  }

  private long place(Part part) {
    return stage.getLong(8 * part.ordinal());
  }

  private Block memory(Part part) {
    return driver.at(place(part), device);
  }

  private double[] doubles(Part part) {
    return memory(part).doubles();
  }

  private long word(long address) {
    return driver.at(address, device).raw().getLong(driver.offset(address));
  }

  private void add(long address, long more) {
    driver.at(address, device).raw().putLong(driver.offset(address), word(address) + more);
  }

  private boolean waits() {
    return place(Part.PROGRESS) != 0;
  }

  @Override
  public Progress step() {
    if (tasks == null) {
      begin();
    }
    if (waits() && word(place(Part.PROGRESS)) < 0) {
      return Progress.DONE;
    }
    while (running.size() < BLOCKS && started < count) {
      long number = waits() ? word(place(Part.PROGRESS)) : first + started;
      running.add(new Running(record(number), driver.tick()));
      begin(running.get(running.size() - 1));
      if (waits()) {
        add(place(Part.PROGRESS), 1);
      }
      started++;
    }
    int k = running.isEmpty() ? 0 : driver.random().nextInt(running.size());
    for (int n = 0; n < running.size(); n++) {
      int at = (k + n) % running.size();
      Running block = running.get(at);
      Cause missing = missing(block.record);
      if (missing == null) {
        running.remove(at);
        long began = block.missing == null ? block.taken : driver.tick();
        run(block.record);
        count(block, began, TaskLayout.decode(block.record, 0));
        return Progress.SOME;
      }
      block.missing = missing;
    }
    return running.isEmpty() ? Progress.DONE : Progress.NONE;
  }

  /** What is there when a ticket is taken: a list that arrives later is not read again. */
  private ByteBuffer record(long number) {
    int at = Math.toIntExact(number * TaskLayout.TASK_BYTES);
    byte[] bytes = new byte[TaskLayout.TASK_BYTES];
    memory(Part.TASKS).raw().get(driver.offset(place(Part.TASKS)) + at, bytes);
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  private void begin() {
    if (waits() && first > 0) {
      tasks = driver.stages.get(place(Part.PROGRESS));
      return;
    }
    FrontDescriptor[] fronts = descriptors(place(Part.FRONTS));
    int[] state = new int[fronts.length];
    int[] index = ints(Part.S_INDEX);
    var program =
        new StageProgram(
            new StageProgram.Counts(fronts.length, 0, 0, 0, 0, 0),
            new StageProgram.Descriptors(null, fronts),
            ints(Part.MAPS),
            new StageProgram.Entries(index, 0, null),
            state,
            null,
            null,
            null);
    var its =
        new StageTasks.Memory(
            doubles(Part.ARENA),
            doubles(Part.VT),
            doubles(Part.S_VALUE),
            doubles(Part.INPUT),
            doubles(Part.OUT),
            doubles(Part.RESIDUAL));
    tasks = new StageTasks(program, stage.getDouble(104), its);
    if (waits()) {
      driver.stages.put(place(Part.PROGRESS), tasks);
    }
  }

  private FrontDescriptor[] descriptors(long address) {
    Block b = driver.at(address, device);
    int at = driver.offset(address);
    int bytes = (b.bytes - at) / TaskLayout.FRONT_BYTES * TaskLayout.FRONT_BYTES;
    ByteBuffer encoded = b.raw().slice(at, bytes).order(ByteOrder.LITTLE_ENDIAN);
    var all = new FrontDescriptor[bytes / TaskLayout.FRONT_BYTES];
    for (int f = 0; f < all.length; f++) {
      all[f] = FrontDescriptor.decode(encoded, f);
    }
    return all;
  }

  private int[] ints(Part part) {
    ByteBuffer raw = memory(part).raw();
    int[] values = new int[raw.capacity() / 4];
    raw.asIntBuffer().get(0, values);
    return values;
  }

  private long peer(int from, int field) {
    long table = stage.getLong(128);
    return word(table + (long) from * StageMemory.PEER_BYTES + 8L * field);
  }

  /** What a task waits for; null: it is ready. */
  private Cause missing(ByteBuffer b) {
    int at = 0;
    int f = TaskLayout.front(b, at);
    if (!waits()) {
      return null;
    }
    int chain = TaskLayout.needChain(b, at);
    int bulk = TaskLayout.needBulk(b, at);
    if ((chain | bulk) != 0) {
      long have = word(place(Part.PROGRESS) + 8L * (1 + f));
      if (Integer.compareUnsigned((int) have, chain) < 0) {
        return Cause.WAIT_CHAIN;
      }
      if (Integer.compareUnsigned((int) (have >>> 32), bulk) < 0) {
        return Cause.WAIT_BULK;
      }
    }
    Task task = TaskLayout.decode(b, at);
    return !(task instanceof Task.Pull p)
            || Long.compareUnsigned(word(peer(p.from(), 5) + 8L * f), p.made()) >= 0
        ? null
        : Cause.WAIT_DEVICE;
  }

  /** Counts a task's time as count_task of timeline.cuh does. */
  private void count(Running block, long began, Task task) {
    long timeline = stage.getLong(TIMELINE);
    if (timeline == 0) {
      return;
    }
    long now = driver.tick();
    add(timeline + 8, Math.max(word(timeline + 8), now) - word(timeline + 8));
    add(timeline + 16, 1);
    if (block.missing != null) {
      spread(timeline, block.taken, began, block.missing);
    }
    spread(timeline, began, now, work(task));
  }

  /** Lowers the begin of the timeline to a ticket's time. */
  private void begin(Running block) {
    long timeline = stage.getLong(TIMELINE);
    if (timeline != 0 && Long.compareUnsigned(block.taken, word(timeline)) < 0) {
      add(timeline, block.taken - word(timeline));
    }
  }

  private void spread(long timeline, long from, long to, Cause cause) {
    long length = 1L << stage.getLong(TIMELINE + 8);
    long zero = word(timeline);
    for (long at = from; at < to; ) {
      long bin = Math.min((at - zero) / length, BINS - 1);
      long end = bin == BINS - 1 ? to : Math.min(to, zero + (bin + 1) * length);
      add(timeline + 32 + 8 * (Cause.COUNTED * bin + cause.ordinal()), end - at);
      at = end;
    }
  }

  private static Cause work(Task task) {
    if (task instanceof Task.Factorize || task instanceof Task.ApplyFactorize) {
      return Cause.FACTORIZE;
    }
    if (task instanceof Task.Apply) {
      return Cause.APPLY;
    }
    if (task instanceof Task.SmallFront) {
      return Cause.SMALL_FRONT;
    }
    return task instanceof Task.Pull || task instanceof Task.Announce ? Cause.PULL : Cause.ASSEMBLE;
  }

  private void run(ByteBuffer b) {
    int at = 0;
    Task task = TaskLayout.decode(b, at);
    int f = TaskLayout.front(b, at);
    loadStates();
    if (task instanceof Task.Pull p) {
      pull(p, f);
    } else if (!(task instanceof Task.Announce)) {
      if (waits() || tasks.state[f] != TaskLayout.STATE_PENDING) {
        fetchOrRun(task);
      }
    }
    storeStates();
    if (!waits()) {
      return;
    }
    int filled = TaskLayout.countsForBulk(b, at);
    if (TaskLayout.countsForChain(b, at)) {
      add(place(Part.PROGRESS) + 8L * (1 + f), 1);
    } else if (filled >= 0) {
      add(place(Part.PROGRESS) + 8L * (1 + filled), 1L << 32);
    }
    if (TaskLayout.announces(b, at)) {
      add(stage.getLong(136) + 8L * f, 1);
    }
  }

  /** Without counts rows of dead fronts are packed too. */
  private void fetchOrRun(Task task) {
    if (!waits() && task instanceof Task.PackRows t) {
      tasks.packed(t);
    } else {
      tasks.run(task);
    }
  }

  private void pull(Task.Pull p, int f) {
    FrontDescriptor source = descriptors(peer(p.from(), 0))[f];
    var part = new PulledPart(p, source, tasks.program.descriptor(f));
    double[] arena = driver.at(peer(p.from(), 1), device).doubles();
    double[] vt = driver.at(peer(p.from(), 2), device).doubles();
    part.values(arena, vt, tasks.arena, tasks.vt);
    long state = peer(p.from(), 3) + 4L * f;
    int its = driver.at(state, device).raw().getInt(driver.offset(state));
    tasks.state[f] = part.state(its, tasks.state[f]);
  }

  private void loadStates() {
    ByteBuffer raw = memory(Part.STATE).raw();
    raw.asIntBuffer().get(0, tasks.state, 0, Math.min(tasks.state.length, raw.capacity() / 4));
  }

  private void storeStates() {
    ByteBuffer raw = memory(Part.STATE).raw();
    raw.asIntBuffer().put(0, tasks.state, 0, Math.min(tasks.state.length, raw.capacity() / 4));
  }
}
