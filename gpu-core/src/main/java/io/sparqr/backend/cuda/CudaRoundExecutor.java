/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import io.sparqr.backend.cuda.driver.CudaDevice;
import io.sparqr.backend.cuda.driver.CudaEvent;
import io.sparqr.backend.cuda.driver.CudaStream;
import io.sparqr.backend.cuda.driver.DeviceBuffer;
import io.sparqr.backend.cuda.driver.LiveResources;
import io.sparqr.backend.cuda.driver.PinnedBuffer;
import io.sparqr.backend.cuda.resident.DeviceLists;
import io.sparqr.backend.cuda.resident.DeviceRows;
import io.sparqr.backend.cuda.resident.DeviceSession;
import io.sparqr.backend.cuda.resident.DeviceSolve;
import io.sparqr.backend.cuda.resident.Residents;
import io.sparqr.backend.cuda.transfer.CopyTimes;
import io.sparqr.backend.cuda.transfer.LaunchPlan;
import io.sparqr.backend.cuda.transfer.LoadedStage;
import io.sparqr.backend.cuda.transfer.OrderedUpload;
import io.sparqr.backend.cuda.transfer.PinnedPool;
import io.sparqr.backend.cuda.transfer.RowDownload;
import io.sparqr.backend.cuda.transfer.StageMemory;
import io.sparqr.backend.cuda.transfer.StageMemory.Part;
import io.sparqr.backend.cuda.transfer.StageUpload;
import io.sparqr.backend.cuda.transfer.Transfers;
import io.sparqr.backend.cuda.transfer.Workers;
import io.sparqr.backend.schedule.SchedulerOptions;
import io.sparqr.backend.schedule.StageSchedule;
import io.sparqr.backend.staged.executor.KeptRows;
import io.sparqr.backend.staged.executor.RoundExecutor;
import io.sparqr.backend.staged.layout.RowGroups;
import io.sparqr.backend.staged.layout.StageProgram;
import io.sparqr.backend.staged.solve.SolveLists;
import io.sparqr.error.InsufficientMemoryException;
import io.sparqr.numeric.DeviceTimeline;
import io.sparqr.numeric.integrity.ColumnSums;
import io.sparqr.numeric.integrity.IntegrityFailure;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Runs a stage's task lists on a device: the überkernel on the compute stream, with many rounds per
 * launch, because tasks wait for their dependencies; a launch ends where rows of R become complete.
 * Values are uploaded through page-locked buffers filled by several threads, in the order in which
 * launches need them; rows of R are downloaded on a separate stream as soon as the launch that
 * finishes them is over, while later ones run, those of a large front part by part. The structure
 * of the last stage stays on the device, so that the same program with other values uploads values
 * only.
 *
 * <p>Not thread-safe; holds its device memory until close().
 */
public final class CudaRoundExecutor implements RoundExecutor {

  private final DeviceSession session;
  private final Residents residents;
  private final CudaDevice device;
  private final long limitBytes;
  private final SchedulerOptions options;
  private final PinnedPool pinned;
  private final DeviceLane lane;
  private final Workers workers;
  public final StageMemory memory;
  private final CudaStream compute;
  private final Transfers transfers;
  private final DeviceColumnSums columnSums;

  /** The program whose structure is on the device, if any. */
  private @Nullable StageProgram resident;

  /** Lists for solves with the rows of the stage under way, once they are sent. */
  private @Nullable DeviceLists lists;

  /** The stage of {@link #lists}, which do not refer to it: they may outlive it. */
  private @Nullable StageProgram listsOf;

  @SuppressWarnings("NullAway.Init") // of the stage under way
  private LaunchPlan launches;

  private double kernelMillis;
  private boolean closed;

  private final TestModes modes;

  private boolean safe;

  private boolean timed;

  /** Of the last stage, if it was timed. */
  private List<DeviceTimeline> timelines = List.of();

  /**
   * An executor on a session that the caller returns after closing it.
   *
   * @param limitBytes device memory to use; 0: all free memory
   * @param threads host threads, at least 1
   */
  public CudaRoundExecutor(
      DeviceSession session,
      long limitBytes,
      int threads,
      SchedulerOptions options,
      TestModes modes) {
    this.modes = modes;
    this.session = session;
    residents = session.residents();
    device = session.device();
    this.limitBytes = limitBytes;
    this.options = options;
    device.bind();
    pinned = session.pinned();
    lane = new DeviceLane(session, threads);
    workers = lane.workers();
    memory = lane.memory();
    compute = lane.compute();
    transfers = lane.transfers();
    columnSums = new DeviceColumnSums(device.driver(), transfers, workers, compute);
  }

  @Override
  public String device() {
    return device.name();
  }

  @Override
  public long availableBytes() {
    long free = lane.availableBytes();
    return limitBytes > 0 ? Math.min(limitBytes, free) : free;
  }

  @Override
  public SchedulerOptions schedulerOptions() {
    return options;
  }

  DeviceLane lane() {
    return lane;
  }

  /**
   * Begins a stage that several devices run, of which this is the first: what was on it is lost,
   * and what is done with the stage afterwards is done here, as if it had run the stage alone.
   */
  void beginAmongSeveral(StageProgram program) {
    dropLists();
    columnSums.newStage();
    resident = null;
    launches = LaunchPlan.of(program);
  }

  /** Whether V of single reflectors is wanted everywhere. */
  boolean reflectors(StageProgram program) {
    return modes.reflectorsOnly() || safe || program.keepsQ();
  }

  /** Milliseconds of the last stage's rounds on the device. */
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

  /**
   * Runs a stage whose values are here, from a run among several devices ({@link
   * #beginAmongSeveral}) that came to nothing.
   *
   * @throws InsufficientMemoryException if they have had to give way
   */
  Result again(StageProgram program, double tolerance, RowSink sink) {
    device.bind();
    resident = null;
    try {
      return run(program, null, tolerance, sink);
    } catch (RuntimeException | Error e) {
      resident = null;
      throw e;
    }
  }

  /** Runs a stage; input null: its values are here. */
  private Result run(
      StageProgram program, @Nullable StageInput input, double tolerance, RowSink sink) {
    timelines = List.of();
    if (!timed) {
      return run(program, input, tolerance, sink, null);
    }
    try (var copies = new CopyTimes(device.driver(), compute)) {
      transfers.measured(copies);
      return run(program, input, tolerance, sink, copies);
    } finally {
      transfers.measured(null);
    }
  }

  /** The same while its copies are measured; null: they are not. */
  @SuppressWarnings("ReferenceEquality")
  private Result run(
      StageProgram program,
      @Nullable StageInput input,
      double tolerance,
      RowSink sink,
      @Nullable CopyTimes copies) {
    dropLists();
    lane.makeRoom(program);
    if (input == null) {
      prepareAgain(program);
    } else {
      prepare(program);
    }
    var upload = new StageUpload(transfers, memory);
    boolean known = resident == program;
    if (!known) {
      resident = null;
      upload.structure(program);
      launches = LaunchPlan.of(program);
    }
    if (input == null) {
      upload.states(program.initialState());
    } else {
      upload.values(program, input);
    }
    var ordered = new OrderedUpload(transfers).stage(upload);
    if (!known) {
      ordered.tasks(memory.get(Part.TASKS), program.schedule(), modes.pieceBytes());
    }
    long sent = ordered.bytes();
    // One event per launch, then the beginning and the end of all launches.
    List<CudaEvent> events = new ArrayList<>();
    Workers.Running downloads = null;
    boolean ended = false;
    try {
      launch(program, tolerance, events, ordered);
      resident = program;
      int n = launches.ends().length;
      if (!sink.later()) {
        downloads = rows(program, sink, g -> events.get(launches.launchOf(g))).start();
      }
      sink.underWay();
      Result result = collect(program, sent, sink.later());
      if (downloads != null) {
        downloads.join();
        downloads = null;
      }
      kernelMillis = events.get(n + 1).since(events.get(n));
      if (copies != null) {
        DeviceTimeline.Copies its = copies.beside(events.get(n), events.get(n + 1));
        timelines = List.of(lane.timeline().read(options.bundle()).withCopies(its));
      }
      ended = true;
      return result;
    } finally {
      if (!ended) {
        // Launches that are under way read what the next stage will write.
        quietly(compute::synchronize);
      }
      if (downloads != null) {
        quietly(downloads::join);
      }
      events.forEach(e -> quietly(e::close));
    }
  }

  /** Reserves memory for a stage and initializes it as the tasks expect. */
  private void prepare(StageProgram program) {
    columnSums.newStage();
    if (memory.reserve(program)) {
      resident = null;
    }
    if (modes.poisoned()) {
      resident = null;
      for (Part part : Part.values()) {
        compute.fill(memory.get(part).at(0), (byte) -1, memory.get(part).bytes());
      }
      compute.synchronize();
    }
    memory.clear(program, compute);
  }

  /** As above, and the values stay. */
  @SuppressWarnings("ReferenceEquality")
  private void prepareAgain(StageProgram program) {
    columnSums.newStage();
    DeviceBuffer values = memory.get(Part.S_VALUE);
    DeviceBuffer blocks = memory.get(Part.INPUT);
    memory.reserve(program);
    if (memory.get(Part.S_VALUE) != values || memory.get(Part.INPUT) != blocks) {
      throw new InsufficientMemoryException(
          "a stage's values had to give way to its lists on one device", program.deviceBytes(), 0);
    }
    memory.clear(program, compute);
  }

  /**
   * Enqueues all rounds, each launch once what it needs is on its way.
   *
   * @param events out: one per launch, reached at its end; then two with timing around all launches
   * @param upload what the rounds need; all of it has arrived at the return
   */
  private void launch(
      StageProgram program, double tolerance, List<CudaEvent> events, OrderedUpload upload) {
    StageSchedule schedule = program.schedule();
    ByteBuffer parameter =
        memory.parameter(tolerance, options.bundle(), reflectors(program), null, null);
    if (timed) {
      lane.timeline().begin(program, 1, parameter);
    }
    int n = launches.ends().length;
    for (int i = 0; i < n + 2; i++) {
      events.add(new CudaEvent(device.driver(), i >= n));
    }
    long first = 0;
    try (OrderedUpload sending = upload.start(workers)) {
      for (int i = 0; i < n; i++) {
        int last = launches.ends()[i];
        sending.await(last, compute);
        if (i == 0) {
          events.get(n).record(compute);
        }
        int count = Math.toIntExact(schedule.roundStart(last + 1) - first);
        if (count > 0) {
          device.module().launch(options.bundle(), compute, parameter, first, count);
        }
        events.get(i).record(compute);
        first += count;
      }
      if (n == 0) {
        events.get(n).record(compute);
      }
      events.get(n + 1).record(compute);
    }
  }

  /** Runs clean-up after a failure without hiding that failure. */
  private static void quietly(Runnable step) {
    try {
      step.run();
    } catch (RuntimeException | Error e) {
      // The first failure is reported.
      LiveResources.suppressed();
    }
  }

  /** Waits for the rounds; returns states and residual. */
  private Result collect(StageProgram program, long sent, boolean rowsStay) {
    int fronts = program.fronts();
    int sums = program.residualSlots() * program.rhs();
    int head = StageMemory.END_BYTES;
    PinnedBuffer buffer = pinned.acquire(head + 8L * sums + 4L * fronts + 16);
    try {
      compute.download(buffer, 0, memory.get(Part.PROGRESS).at(0), head);
      compute.download(buffer, head, memory.get(Part.RESIDUAL).at(0), 8L * sums);
      compute.download(buffer, head + 8L * sums, memory.get(Part.STATE).at(0), 4L * fronts);
      compute.synchronize();
      ByteBuffer end = buffer.view(0, head);
      StageMemory.checkKinds(end.getLong());
      // the sign bit is SPARQR_GIVEN_UP
      if (end.getLong() < 0) {
        throw new IntegrityFailure(
            "a task waited %d ms for tasks that its list does not have before it"
                .formatted(StageMemory.waitMillis()));
      }
      double[] residual = new double[sums];
      int[] state = new int[fronts];
      buffer.view(head, head + 8 * sums).asDoubleBuffer().get(residual);
      buffer.view(head + 8 * sums, head + 8 * sums + 4 * fronts).asIntBuffer().get(state);
      long received = 8L * sums + 4L * fronts + (rowsStay ? 0 : 8 * program.outDoubles());
      return new Result(state, residual, sent, received);
    } finally {
      pinned.release(buffer);
    }
  }

  @Override
  public void deliver(StageProgram program, RowSink sink) {
    device.bind();
    rows(program, sink, null).run();
  }

  private RowDownload rows(
      StageProgram program, RowSink sink, @Nullable Function<RowGroups.Group, CudaEvent> end) {
    return new RowDownload(transfers, workers, memory, program, launches, sink, end);
  }

  @Override
  public boolean solves(StageProgram program) {
    return SolveLists.possible(program);
  }

  @Override
  public Solved backSubstitute(StageProgram program) {
    device.bind();
    var solve = new DeviceSolve(device.driver(), pinned, transfers, workers, compute);
    try (DeviceLists its = takeLists(program, false)) {
      return solve.run(onDevice(program), its);
    }
  }

  @Override
  public void solveAhead(StageProgram program, boolean both) {
    try {
      lists = sentLists(program, both);
      listsOf = program;
    } catch (InsufficientMemoryException e) {
      // What needs the lists tries again.
      lists = null;
    }
  }

  private DeviceLists sentLists(StageProgram program, boolean both) {
    return new DeviceLists(device.driver(), transfers, workers, program, both);
  }

  /** The lists sent ahead or, if they were not, now; owned by the caller. */
  @SuppressWarnings("ReferenceEquality")
  private DeviceLists takeLists(StageProgram program, boolean both) {
    DeviceLists sent = lists;
    lists = null;
    if (sent != null && listsOf == program && sent.both() == both) {
      return sent;
    }
    if (sent != null) {
      sent.close();
    }
    return sentLists(program, both);
  }

  private void dropLists() {
    if (lists != null) {
      DeviceLists unused = lists;
      lists = null;
      unused.close();
    }
  }

  @Override
  public void copyRows(List<Slice> slices) {
    device.bind();
    lane.download(memory.get(Part.OUT), slices);
  }

  @Override
  public Optional<KeptRows> keep(StageProgram program) {
    device.bind();
    DeviceLists its = null;
    try {
      its = takeLists(program, true);
      long need = DeviceRows.need(its, memory.get(Part.OUT).bytes());
      if (!residents.admit(need, device.totalBytes())) {
        return Optional.empty();
      }
      DeviceLists given = its;
      its = null;
      var rows = new DeviceRows(session, given, memory.take(Part.OUT));
      residents.add(rows);
      return Optional.of(rows);
    } catch (InsufficientMemoryException e) {
      return Optional.empty();
    } finally {
      if (its != null) {
        its.close();
      }
    }
  }

  @Override
  public boolean hasRoom(StageProgram program) {
    // With what solves need beside the rows, they take a little more: keep() decides.
    return Residents.fits(8 * program.outDoubles(), device.totalBytes());
  }

  @Override
  public double[] fetch(ByteBuffer tasks, int count, int outDoubles) {
    int bundle = options.bundle();
    return lane.fetch(
        tasks,
        count,
        outDoubles,
        false,
        bundle,
        (list, out) -> memory.parameter(-1, bundle, false, list, out));
  }

  @Override
  public long inputSums(StageProgram program, double[] scale, boolean[] counts, ColumnSums sums) {
    device.bind();
    return columnSums.input(onDevice(program), scale, counts, sums);
  }

  @Override
  public long outputSums(StageProgram program, double[] scale, boolean[] counts, ColumnSums sums) {
    device.bind();
    return columnSums.output(onDevice(program), scale, counts, sums);
  }

  @Override
  public void sumAhead(StageProgram program, double[] scale) {
    columnSums.ahead(onDevice(program), scale);
  }

  @Override
  public Compared compare(StageProgram program, double[] scale, double[] residualSquares) {
    device.bind();
    return columnSums.compare(onDevice(program), scale, residualSquares);
  }

  private LoadedStage onDevice(StageProgram program) {
    return new LoadedStage(program, memory, device.module());
  }

  @Override
  public void timed(boolean on) {
    timed = on;
  }

  /** Whether stages are timed. */
  boolean timed() {
    return timed;
  }

  @Override
  public List<DeviceTimeline> timelines() {
    return timelines;
  }

  @Override
  public void safe(boolean on) {
    safe = on;
    if (on) {
      // The structure on the device may be the cause of the failure.
      resident = null;
      columnSums.forget();
    }
  }

  @Override
  public void read(Region region, long from, double[] target) {
    device.bind();
    DeviceBuffer source = memory.get(region == Region.ARENA ? Part.ARENA : Part.VT);
    lane.download(source, List.of(new Slice(from, target)));
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      resident = null;
      device.bind();
      dropLists();
      columnSums.close();
      lane.close();
    }
  }
}
