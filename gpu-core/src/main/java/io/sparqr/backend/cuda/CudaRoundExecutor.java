/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import io.sparqr.backend.cuda.StageMemory.Part;
import io.sparqr.backend.schedule.RoundExecutor;
import io.sparqr.backend.schedule.SchedulerOptions;
import io.sparqr.backend.schedule.StageProgram;
import io.sparqr.backend.schedule.StageSchedule;
import io.sparqr.backend.schedule.TaskLayout;
import java.nio.ByteBuffer;
import java.nio.DoubleBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * Runs a stage's task lists on a device: the überkernel on the compute stream, many rounds a
 * launch, since tasks wait for what they need; a launch ends where rows of R become complete.
 * Values go up through page-locked buffers filled by several threads; rows of R come down on their
 * own stream as soon as the launch that finishes them is over, while later ones run. The structure
 * of the last stage stays on the device, so the same program with other values sends values only.
 *
 * <p>Not thread-safe; holds its device memory until close().
 */
final class CudaRoundExecutor implements RoundExecutor {

  /** Bytes of rows that come down together. */
  private static final int GROUP_BYTES = 8 << 20;

  /** Tasks from which on a launch may end for the sake of rows. */
  private static final int LAUNCH_TASKS = 8192;

  /** Bytes that one thread prepares for an upload. */
  private static final int PIECE_BYTES = 4 << 20;

  /** Bytes from which on a front's or a block's values go through the heap. */
  private static final long LARGE_BYTES = 1L << 30;

  /** Fronts [from, to), whose rows are complete after a round. */
  private record Group(int from, int to, int ready) {}

  private final CudaDevice device;
  private final long limitBytes;
  private final SchedulerOptions options;
  private final PinnedPool pinned;
  private final Workers workers;
  private final StageMemory memory;
  private final CudaStream compute;
  private final CudaStream up;
  private final CudaStream down;
  private StageProgram resident;
  private List<Group> groups = List.of();

  /** Last rounds of the launches. */
  private int[] ends = {};

  private double kernelMillis;
  private boolean closed;

  /** For tests: every buffer of a stage is filled with NaN before anything is put into it. */
  private boolean poison;

  private boolean reflectors = Boolean.getBoolean("sparqr.cuda.reflectors");

  /**
   * An executor on a session that is the caller's to give back, after this.
   *
   * @param limitBytes device memory to use; 0: what is free
   * @param threads host threads, at least 1
   */
  CudaRoundExecutor(DeviceSession session, long limitBytes, int threads, SchedulerOptions options) {
    device = session.device();
    this.limitBytes = limitBytes;
    this.options = options;
    device.bind();
    pinned = session.pinned();
    workers = new Workers(device, threads);
    memory = new StageMemory(device.driver());
    compute = new CudaStream(device.driver());
    up = new CudaStream(device.driver());
    down = new CudaStream(device.driver());
  }

  @Override
  public String device() {
    return device.name();
  }

  @Override
  public long availableBytes() {
    device.bind();
    long free = (long) (0.95 * (device.freeBytes() + memory.held()));
    return limitBytes > 0 ? Math.min(limitBytes, free) : free;
  }

  /**
   * The kernels do finish such fronts, but a pivot within rounding of the tolerance may then fall
   * on the other side of it than on the CPU; factored from their rows by the CPU backend, fronts
   * get the rank that it gives.
   */
  @Override
  public boolean finishesDeadFronts() {
    return false;
  }

  @Override
  public SchedulerOptions schedulerOptions() {
    return options;
  }

  /** For tests. */
  void poison() {
    poison = true;
  }

  /** Every column by a reflector, never by Cholesky QR. */
  void reflectorsOnly() {
    reflectors = true;
  }

  /** Milliseconds that the last stage's rounds took on the device. */
  double kernelMillis() {
    return kernelMillis;
  }

  @Override
  public Result execute(StageProgram program, StageInput input, double tolerance, RowSink sink) {
    device.bind();
    try {
      return run(program, input, tolerance, sink);
    } catch (RuntimeException | Error e) {
      resident = null;
      throw e;
    }
  }

  private Result run(StageProgram program, StageInput input, double tolerance, RowSink sink) {
    var traffic = new long[2];
    if (memory.reserve(program)) {
      resident = null;
    }
    if (poison) {
      resident = null;
      for (Part part : Part.values()) {
        compute.fill(memory.get(part).at(0), (byte) -1, memory.get(part).bytes());
      }
      compute.synchronize();
    }
    compute.fill(memory.get(Part.ARENA).at(0), (byte) 0, 8 * program.arenaDoubles());
    // Rows of unsound fronts come down too, unused: they shall be something.
    compute.fill(memory.get(Part.OUT).at(0), (byte) 0, 8 * program.outDoubles());
    compute.fill(memory.get(Part.PROGRESS).at(0), (byte) 0, 8L * (1 + program.fronts()));
    compute.fill(
        memory.get(Part.RESIDUAL).at(0), (byte) 0, 8L * program.residualSlots() * program.rhs());
    if (resident != program) {
      resident = null;
      traffic[0] += uploadStructure(program);
      groups = groups(program);
      ends = ends(program.schedule(), groups);
      resident = program;
    }
    traffic[0] += uploadValues(program, input);
    StageSchedule schedule = program.schedule();
    ByteBuffer parameter =
        memory.parameter(tolerance, options.bundle(), reflectors || program.keepsQ(), null, null);
    NavigableMap<Integer, CudaEvent> ready = new TreeMap<>();
    List<CudaEvent> timing = new ArrayList<>();
    Workers.Running downloads = null;
    try {
      for (int end : ends) {
        ready.put(end, new CudaEvent(device.driver(), false));
      }
      timing.add(new CudaEvent(device.driver(), true));
      timing.add(new CudaEvent(device.driver(), true));
      timing.get(0).record(compute);
      long first = 0;
      for (int end : ends) {
        int count = Math.toIntExact(schedule.roundStart(end + 1) - first);
        if (count > 0) {
          device.module().launch(options.bundle(), compute, parameter, first, count);
        }
        ready.get(end).record(compute);
        first += count;
      }
      timing.get(1).record(compute);
      downloads = workers.start(groups.size(), i -> download(program, groups.get(i), ready, sink));
      Result result = collect(program, traffic);
      downloads.join();
      downloads = null;
      kernelMillis = timing.get(1).since(timing.get(0));
      return result;
    } finally {
      if (downloads != null) {
        quietly(downloads::join);
      }
      ready.values().forEach(e -> quietly(e::close));
      timing.forEach(e -> quietly(e::close));
    }
  }

  /** Runs what must run after a failure without hiding it. */
  private static void quietly(Runnable step) {
    try {
      step.run();
    } catch (RuntimeException e) {
      // The first failure is the one that is reported.
      LiveResources.suppressed();
    }
  }

  /** Waits for the rounds; the state and the residual. */
  private Result collect(StageProgram program, long[] traffic) {
    int fronts = program.fronts();
    int sums = program.residualSlots() * program.rhs();
    PinnedBuffer buffer = pinned.acquire(8L * sums + 4L * fronts + 16);
    try {
      compute.download(buffer, 0, memory.get(Part.RESIDUAL).at(0), 8L * sums);
      compute.download(buffer, 8L * sums, memory.get(Part.STATE).at(0), 4L * fronts);
      compute.synchronize();
      double[] residual = new double[sums];
      int[] state = new int[fronts];
      buffer.view(0, 8 * sums).asDoubleBuffer().get(residual);
      buffer.view(8 * sums, 8 * sums + 4 * fronts).asIntBuffer().get(state);
      traffic[1] += 8L * sums + 4L * fronts + 8 * program.outDoubles();
      return new Result(state, residual, traffic[0], traffic[1]);
    } finally {
      pinned.release(buffer);
    }
  }

  /** Brings the rows of a group down and hands them out. */
  private void download(
      StageProgram program, Group group, NavigableMap<Integer, CudaEvent> ready, RowSink sink) {
    long start = program.outStart(group.from);
    if (8 * (program.outStart(group.to) - start) > LARGE_BYTES) {
      downloadLarge(program, group, ready, sink);
      return;
    }
    int bytes = Math.toIntExact(8 * (program.outStart(group.to) - start));
    int states = 4 * (group.to - group.from);
    for (int f = group.from; f < group.to; f++) {
      sink.expect(f);
    }
    PinnedBuffer buffer = pinned.acquire((long) bytes + states);
    try (var done = new CudaEvent(device.driver(), false)) {
      synchronized (down) {
        down.await(ready.ceilingEntry(group.ready).getValue());
        down.download(buffer, 0, memory.get(Part.OUT).at(8 * start), bytes);
        down.download(buffer, bytes, memory.get(Part.STATE).at(4L * group.from), states);
        done.record(down);
      }
      done.synchronize();
      var state = buffer.view(bytes, bytes + states).asIntBuffer();
      for (int f = group.from; f < group.to; f++) {
        int at = (int) (8 * (program.outStart(f) - start));
        if (state.get(f - group.from) == 0 && program.outLength(f) > 0) {
          sink.accept(f, buffer.view(at, at + 8 * program.outLength(f)).asDoubleBuffer());
        }
      }
    } finally {
      pinned.release(buffer);
    }
  }

  /**
   * The same for one front whose rows exceed a staging buffer: through the heap, piece by piece.
   */
  private void downloadLarge(
      StageProgram program, Group group, NavigableMap<Integer, CudaEvent> ready, RowSink sink) {
    int f = group.from;
    double[] rows = new double[program.outLength(f)];
    PinnedBuffer buffer = pinned.acquire(PIECE_BYTES);
    try (var done = new CudaEvent(device.driver(), false)) {
      int step = PIECE_BYTES / 8;
      int state = 0;
      for (long at = -1; at < rows.length && state == 0; at += at < 0 ? 1 : step) {
        int count = at < 0 ? 0 : (int) Math.min(step, rows.length - at);
        synchronized (down) {
          down.await(ready.ceilingEntry(group.ready).getValue());
          if (at < 0) {
            down.download(buffer, 0, memory.get(Part.STATE).at(4L * f), 4);
          } else {
            down.download(
                buffer, 0, memory.get(Part.OUT).at(8 * (program.outStart(f) + at)), 8L * count);
          }
          done.record(down);
        }
        done.synchronize();
        if (at < 0) {
          state = buffer.view(0, 4).getInt();
        } else {
          buffer.view(0, 8 * count).asDoubleBuffer().get(rows, (int) at, count);
        }
      }
      if (state == 0) {
        sink.accept(f, DoubleBuffer.wrap(rows));
      }
    } finally {
      pinned.release(buffer);
    }
  }

  /** Contiguous fronts of about GROUP_BYTES of rows together, in the order they get ready. */
  private static List<Group> groups(StageProgram program) {
    List<Group> groups = new ArrayList<>();
    int from = 0;
    while (from < program.fronts()) {
      int to = from;
      int ready = 0;
      do {
        ready = Math.max(ready, program.schedule().lastRound(to));
        to++;
      } while (to < program.fronts()
          && 8 * (program.outStart(to + 1) - program.outStart(from)) <= GROUP_BYTES);
      if (program.outStart(to) > program.outStart(from)) {
        groups.add(new Group(from, to, Math.min(ready, program.schedule().rounds() - 1)));
      }
      from = to;
    }
    groups.sort((a, b) -> Integer.compare(a.ready, b.ready));
    return groups;
  }

  /** A launch ends with the round that completes a group, but not before it has some size. */
  private static int[] ends(StageSchedule schedule, List<Group> groups) {
    int[] ends = new int[groups.size() + 1];
    int n = 0;
    long from = 0;
    for (Group g : groups) {
      long to = schedule.roundStart(g.ready + 1);
      if (to - from >= LAUNCH_TASKS) {
        ends[n++] = g.ready;
        from = to;
      }
    }
    int last = schedule.rounds() - 1;
    if (last >= 0 && (n == 0 || ends[n - 1] < last)) {
      ends[n++] = last;
    }
    return Arrays.copyOf(ends, n);
  }

  /** Descriptors, maps, places of S, task lists. Returns the bytes sent. */
  private long uploadStructure(StageProgram program) {
    List<Piece> pieces = new ArrayList<>();
    ByteBuffer descriptors = program.descriptors();
    pieces(
        pieces,
        Part.FRONTS,
        descriptors.capacity(),
        1,
        (to, from, count) ->
            to.put(descriptors.duplicate().position((int) from).limit((int) from + count)));
    pieces(
        pieces,
        Part.MAPS,
        program.maps().length,
        4,
        (to, from, count) -> to.asIntBuffer().put(program.maps(), (int) from, count));
    pieces(
        pieces,
        Part.S_INDEX,
        program.sIndex().length,
        4,
        (to, from, count) -> to.asIntBuffer().put(program.sIndex(), (int) from, count));
    StageSchedule schedule = program.schedule();
    int round = 0;
    while (round < schedule.rounds()) {
      int first = round;
      do {
        round++;
      } while (round < schedule.rounds()
          && TaskLayout.TASK_BYTES * (schedule.roundStart(round + 1) - schedule.roundStart(first))
              <= PIECE_BYTES);
      int end = round;
      long at = TaskLayout.TASK_BYTES * schedule.roundStart(first);
      long bytes = TaskLayout.TASK_BYTES * schedule.roundStart(end) - at;
      pieces.add(new Piece(Part.TASKS, at, bytes, to -> schedule.write(first, end, to)));
    }
    return upload(pieces);
  }

  private long uploadValues(StageProgram program, StageInput input) {
    List<Piece> pieces = new ArrayList<>();
    int from = 0;
    while (from < program.fronts()) {
      int first = from;
      long start = program.descriptor(first).sFrom();
      long end;
      do {
        end = program.descriptor(from).sTo();
        from++;
      } while (from < program.fronts()
          && 8 * (program.descriptor(from).sTo() - start) <= PIECE_BYTES);
      int to = from;
      pieces.add(values(Part.S_VALUE, start, end - start, b -> input.writeS(first, to, b)));
    }
    for (int b = 0; b < program.blocks(); b++) {
      var d = program.descriptor(program.fronts() + b);
      int block = b;
      long doubles =
          io.sparqr.numeric.ContributionBlock.packedLength(d.fm(), d.fn())
              + (long) d.fm() * d.rhs();
      pieces.add(values(Part.INPUT, d.data(), doubles, t -> input.writeBlock(block, t)));
    }
    int[] state = program.initialState();
    pieces(
        pieces,
        Part.STATE,
        state.length,
        4,
        (to, at, count) -> to.asIntBuffer().put(state, (int) at, count));
    return upload(pieces);
  }

  /** What goes to a place of a buffer, and who writes it; negative bytes: the filler sends them. */
  private record Piece(Part part, long offset, long bytes, Filler filler) {}

  @FunctionalInterface
  private interface Filler {
    void fill(ByteBuffer target);
  }

  @FunctionalInterface
  private interface ValueFiller {
    void fill(DoubleBuffer target);
  }

  /** Doubles [at, at + count) of a buffer; a large piece is written to the heap first. */
  private Piece values(Part part, long at, long count, ValueFiller filler) {
    if (8 * count <= LARGE_BYTES) {
      return new Piece(part, 8 * at, 8 * count, b -> filler.fill(b.asDoubleBuffer()));
    }
    return new Piece(part, 8 * at, -8 * count, b -> uploadLarge(part, at, (int) count, filler));
  }

  private void uploadLarge(Part part, long at, int count, ValueFiller filler) {
    double[] heap = new double[count];
    filler.fill(DoubleBuffer.wrap(heap));
    int step = PIECE_BYTES / 8;
    PinnedBuffer buffer = pinned.acquire(PIECE_BYTES);
    try (var done = new CudaEvent(device.driver(), false)) {
      for (int from = 0; from < count; from += step) {
        int n = Math.min(step, count - from);
        buffer.view(0, 8 * n).asDoubleBuffer().put(heap, from, n);
        up.upload(memory.get(part).at(8 * (at + from)), buffer, 0, 8L * n);
        done.record(up);
        done.synchronize();
      }
    } finally {
      pinned.release(buffer);
    }
  }

  @FunctionalInterface
  private interface ArrayFiller {
    void fill(ByteBuffer target, long from, int count);
  }

  private static void pieces(
      List<Piece> pieces, Part part, long length, int size, ArrayFiller filler) {
    int step = PIECE_BYTES / size;
    for (long from = 0; from < length; from += step) {
      long at = from;
      int count = (int) Math.min(step, length - from);
      pieces.add(new Piece(part, size * from, (long) size * count, t -> filler.fill(t, at, count)));
    }
  }

  /** Fills and sends all pieces, several threads at a time; done on return. */
  private long upload(List<Piece> pieces) {
    long bytes = 0;
    for (Piece p : pieces) {
      bytes += Math.abs(p.bytes);
    }
    workers.run(
        pieces.size(),
        i -> {
          Piece p = pieces.get(i);
          if (p.bytes < 0) {
            p.filler.fill(null);
          }
          if (p.bytes <= 0) {
            return;
          }
          PinnedBuffer buffer = pinned.acquire(p.bytes);
          try (var done = new CudaEvent(device.driver(), false)) {
            p.filler.fill(buffer.view(0, (int) p.bytes));
            up.upload(memory.get(p.part).at(p.offset), buffer, 0, p.bytes);
            done.record(up);
            done.synchronize();
          } finally {
            pinned.release(buffer);
          }
        });
    return bytes;
  }

  @Override
  public double[] fetch(ByteBuffer tasks, int count, int outDoubles) {
    if (count == 0) {
      return new double[outDoubles];
    }
    device.bind();
    int bytes = Math.multiplyExact(count, TaskLayout.TASK_BYTES);
    try (var list = new DeviceBuffer(device.driver(), bytes);
        var out = new DeviceBuffer(device.driver(), 8L * outDoubles)) {
      PinnedBuffer buffer = pinned.acquire(Math.max(bytes, 8L * outDoubles));
      try {
        buffer.view(0, bytes).put(tasks.duplicate().position(0).limit(bytes));
        compute.upload(list.at(0), buffer, 0, bytes);
        device
            .module()
            .launch(
                options.bundle(),
                compute,
                memory.parameter(-1, options.bundle(), false, list, out),
                0,
                count);
        compute.download(buffer, 0, out.at(0), 8L * outDoubles);
        compute.synchronize();
        double[] result = new double[outDoubles];
        buffer.view(0, 8 * outDoubles).asDoubleBuffer().get(result);
        return result;
      } finally {
        pinned.release(buffer);
      }
    }
  }

  @Override
  public void read(Region region, long from, double[] target) {
    device.bind();
    DeviceBuffer source = memory.get(region == Region.ARENA ? Part.ARENA : Part.VT);
    int step = PIECE_BYTES / 8;
    workers.run(
        (int) ((target.length + step - 1L) / step),
        i -> {
          int at = i * step;
          int count = Math.min(step, target.length - at);
          PinnedBuffer buffer = pinned.acquire(8L * count);
          try (var done = new CudaEvent(device.driver(), false)) {
            synchronized (down) {
              down.download(buffer, 0, source.at(8 * (from + at)), 8L * count);
              done.record(down);
            }
            done.synchronize();
            buffer.view(0, 8 * count).asDoubleBuffer().get(target, at, count);
          } finally {
            pinned.release(buffer);
          }
        });
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      resident = null;
      device.bind();
      workers.close();
      memory.close();
      compute.close();
      up.close();
      down.close();
    }
  }
}
