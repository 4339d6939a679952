/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import io.sparqr.backend.cuda.driver.CudaEvent;
import io.sparqr.backend.cuda.driver.LiveResources;
import io.sparqr.backend.cuda.driver.PinnedBuffer;
import io.sparqr.backend.cuda.resident.DeviceSession;
import io.sparqr.backend.cuda.transfer.StageMemory;
import io.sparqr.backend.cuda.transfer.StageMemory.Part;
import io.sparqr.backend.cuda.transfer.StageUpload;
import io.sparqr.backend.schedule.FrontDevices;
import io.sparqr.backend.schedule.SchedulerOptions;
import io.sparqr.backend.schedule.StageSchedule;
import io.sparqr.backend.schedule.TaskLayout;
import io.sparqr.backend.staged.executor.RoundExecutor.Result;
import io.sparqr.backend.staged.executor.RoundExecutor.RowSink;
import io.sparqr.backend.staged.executor.RoundExecutor.StageInput;
import io.sparqr.backend.staged.layout.DeviceStage;
import io.sparqr.backend.staged.layout.StageProgram;
import io.sparqr.error.InsufficientMemoryException;
import io.sparqr.numeric.DeviceTimeline;
import io.sparqr.numeric.integrity.IntegrityFailure;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;

/**
 * The devices of a {@link CudaDevicesExecutor}: memory of a stage on each, lists, launches, and how
 * they ended. From the first stage on every device reaches the memory of the others. Not
 * thread-safe.
 */
final class DeviceTeam implements AutoCloseable {

  private final CudaRoundExecutor first;
  private final List<DeviceLane> lanes = new ArrayList<>();
  private final List<PeerMemory> peers = new ArrayList<>();
  private final SchedulerOptions options;
  private final TestModes modes;

  /** Whether all of them have the same device. */
  private final boolean inTurn;

  /** What the devices did in the last stage, if it was timed. */
  private List<DeviceTimeline> timelines = List.of();

  /** Whether the structure of the last stage is on the devices. */
  private boolean resident;

  /** Whether the devices have been told of each other. */
  private boolean reached;

  /**
   * A team.
   *
   * @param first its first member, closed by the caller after this
   * @throws IllegalArgumentException if sessions are neither of one device nor all of different
   *     ones
   */
  DeviceTeam(
      CudaRoundExecutor first,
      List<DeviceSession> sessions,
      int threads,
      SchedulerOptions options,
      TestModes modes) {
    this.first = first;
    this.options = options;
    this.modes = modes;
    int devices = new HashSet<>(sessions).size();
    inTurn = devices < sessions.size();
    if (inTurn && devices > 1) {
      throw new IllegalArgumentException(
          "%d parts of a stage on %d devices: on one, or on as many devices"
              .formatted(sessions.size(), devices));
    }
    boolean done = false;
    try {
      for (DeviceSession s : sessions) {
        s.device().bind();
        DeviceLane lane = lanes.isEmpty() ? first.lane() : new DeviceLane(s, threads);
        lanes.add(lane);
        peers.add(new PeerMemory(lane));
      }
      first.lane().device().bind();
      done = true;
    } finally {
      if (!done) {
        close();
      }
    }
  }

  /** By number of the device. */
  List<DeviceLane> lanes() {
    return lanes;
  }

  /** By number of the device: what it did in the last {@link #run}; empty: it was not timed. */
  List<DeviceTimeline> timelines() {
    return timelines;
  }

  /** What is on the devices is not used again. */
  void forget() {
    resident = false;
  }

  /**
   * Opens every device's memory to the others, once. Not before a stage needs it: from then on an
   * allocation is mapped on all of them, which takes longer.
   */
  private void reach() {
    if (reached) {
      return;
    }
    for (DeviceLane from : lanes) {
      from.device().bind();
      lanes.forEach(to -> from.device().reach(to.device()));
    }
    reached = true;
  }

  /** Makes room on every device; false: there is not enough. */
  boolean prepare(DeviceStage stage) {
    try {
      reach();
      first.beginAmongSeveral(stage.one());
      for (int d = 0; d < stage.programs().size(); d++) {
        DeviceLane lane = lanes.get(d);
        StageProgram program = stage.programs().get(d);
        long there = d == 0 ? first.availableBytes() : lane.availableBytes();
        if (program.deviceBytes() > there) {
          // VT slots of shared fronts take more than on one device.
          return false;
        }
        lane.device().bind();
        lane.makeRoom(program);
        if (lane.memory().reserve(program)) {
          resident = false;
        }
        if (peers.get(d).reserve(program, stage.programs().size())) {
          resident = false;
        }
      }
      return true;
    } catch (InsufficientMemoryException e) {
      // The first device alone may have enough, if nothing is held for the others' sake.
      resident = false;
      for (int d = 0; d < lanes.size(); d++) {
        lanes.get(d).device().bind();
        peers.get(d).close();
        lanes.get(d).memory().close();
      }
      return false;
    } finally {
      first.lane().device().bind();
    }
  }

  /** Runs a stage for which there is room; the rows of R stay where they are. */
  Result run(DeviceStage stage, StageInput input, double tolerance, RowSink sink) {
    int n = stage.programs().size();
    timelines = List.of();
    for (int d = 0; d < n; d++) {
      lanes.get(d).device().bind();
      clear(d, stage.programs().get(d));
    }
    long sent = upload(stage, input);
    // A device reads and writes what others have cleared.
    for (int d = 0; d < n; d++) {
      lanes.get(d).device().bind();
      lanes.get(d).compute().synchronize();
    }
    List<CudaEvent> ends = new ArrayList<>();
    try {
      sent += launched(stage, tolerance, ends);
      // What follows on the first device follows the others' rounds, too.
      first.lane().device().bind();
      ends.forEach(first.lane().compute()::await);
      sink.underWay();
      return collect(stage, sent, sink.later());
    } catch (RuntimeException | Error e) {
      resident = false;
      // Nobody may write over lists that are still being run.
      for (int d = 0; d < n; d++) {
        DeviceLane lane = lanes.get(d);
        quietly(
            () -> {
              lane.device().bind();
              lane.compute().synchronize();
            });
      }
      throw e;
    } finally {
      ends.forEach(e -> quietly(e::close));
      first.lane().device().bind();
    }
  }

  /** Initializes a device's memory as the tasks expect; the device's context is current. */
  private void clear(int d, StageProgram program) {
    DeviceLane lane = lanes.get(d);
    StageMemory memory = lane.memory();
    var compute = lane.compute();
    if (modes.poisoned()) {
      resident = false;
      for (Part part : Part.values()) {
        compute.fill(memory.get(part).at(0), (byte) -1, memory.get(part).bytes());
      }
      compute.synchronize();
    }
    memory.clear(program, compute);
    peers.get(d).clear(program);
  }

  /** Sends what is not on the devices, without lists; returns the bytes. */
  private long upload(DeviceStage stage, StageInput input) {
    long sent = 0;
    for (int d = 0; d < stage.programs().size(); d++) {
      DeviceLane lane = lanes.get(d);
      StageProgram program = stage.programs().get(d);
      lane.device().bind();
      var upload = new StageUpload(lane.transfers(), lane.memory());
      if (!resident) {
        // On the first device the descriptors of the stage on one, for sums of columns.
        upload.structure(d == 0 ? stage.one() : program);
      }
      sent +=
          (d == 0 ? upload.values(stage.one(), input) : upload.states(program.initialState()))
              .run(lane.workers());
      peers.get(d).sendPlaces(lanes, peers(stage));
      if (!resident) {
        peers.get(d).sendFronts(program);
      }
    }
    return sent;
  }

  private List<PeerMemory> peers(DeviceStage stage) {
    return peers.subList(0, stage.programs().size());
  }

  private ByteBuffer parameter(int d, double tolerance, boolean reflectors) {
    StageMemory memory = lanes.get(d).memory();
    ByteBuffer p = memory.parameter(tolerance, options.bundle(), reflectors, null, null);
    amongSeveral(d, p);
    return p;
  }

  private void amongSeveral(int d, ByteBuffer parameter) {
    PeerMemory its = peers.get(d);
    StageMemory.amongSeveral(
        parameter, lanes.get(0).memory(), its.fronts(), its.peers(), its.announced());
  }

  /** As {@link #launch}; if that fails, nothing goes on waiting on a device. */
  private long launched(DeviceStage stage, double tolerance, List<CudaEvent> ends) {
    boolean launched = false;
    try {
      long sent = launch(stage, tolerance, ends);
      launched = true;
      return sent;
    } finally {
      if (!launched) {
        giveUp(stage.programs().size());
      }
    }
  }

  /**
   * Enqueues all rounds on all devices, the first ones while the lists of later ones are on their
   * way.
   *
   * @param ends out: the ends of the other devices' rounds
   * @return bytes of lists sent
   */
  private long launch(DeviceStage stage, double tolerance, List<CudaEvent> ends) {
    boolean reflectors = first.reflectors(stage.one());
    int n = stage.programs().size();
    var parameters = new ByteBuffer[n];
    Arrays.setAll(parameters, d -> parameter(d, tolerance, reflectors));
    if (first.timed()) {
      for (int d = 0; d < n; d++) {
        lanes.get(d).device().bind();
        lanes.get(d).timeline().begin(stage.one(), n, parameters[d]);
      }
    }
    for (int d = 1; d < n; d++) {
      lanes.get(d).device().bind();
      ends.add(new CudaEvent(lanes.get(d).device().driver(), false));
    }
    try (var lists = new TeamLists(lanes.subList(0, n), stage, resident, modes.pieceBytes())) {
      boolean launched = false;
      try {
        if (inTurn) {
          launchInTurn(stage, parameters, lists);
        } else {
          launchTogether(stage, parameters, lists);
          for (int d = 1; d < n; d++) {
            lanes.get(d).device().bind();
            ends.get(d - 1).record(lanes.get(d).compute());
          }
        }
        launched = true;
      } finally {
        // Before the end of the lists is awaited: a copy may wait for a device that waits in vain.
        if (!launched) {
          giveUp(n);
        }
      }
      resident = true;
      return lists.bytes();
    }
  }

  /**
   * By rounds whose lists have arrived. Launches end with the same rounds on all devices, so
   * whatever a task waits for has been launched before it, or is launched along with it.
   */
  private void launchTogether(DeviceStage stage, ByteBuffer[] parameters, TeamLists lists) {
    int begin = 0;
    for (int end : lists.ends()) {
      // Not between two launches: what sends lists may wait for a device that waits for the other.
      for (int d = 0; d < parameters.length; d++) {
        lanes.get(d).device().bind();
        lists.await(d, end, lanes.get(d).compute());
      }
      for (int d = 0; d < parameters.length; d++) {
        lanes.get(d).device().bind();
        StageSchedule s = stage.programs().get(d).schedule();
        launch(d, lanes.get(d), parameters[d], s.roundStart(begin), s.roundStart(end));
      }
      begin = end;
    }
  }

  /** By round: what devices announce, then the rest, in which they take what was announced. */
  private void launchInTurn(DeviceStage stage, ByteBuffer[] parameters, TeamLists lists) {
    first.lane().device().bind();
    for (int d = 0; d < parameters.length; d++) {
      lists.await(d, stage.schedule().rounds(), first.lane().compute());
    }
    for (int r = 0; r < stage.schedule().rounds(); r++) {
      for (int part = 0; part < 2; part++) {
        for (int d = 0; d < parameters.length; d++) {
          StageSchedule s = stage.programs().get(d).schedule();
          long middle = s.kindStart(r, TaskLayout.PULL);
          long from = part == 0 ? s.roundStart(r) : middle;
          long to = part == 0 ? middle : s.roundStart(r + 1);
          launch(d, first.lane(), parameters[d], from, to);
        }
      }
    }
  }

  private void launch(int d, DeviceLane by, ByteBuffer parameter, long from, long to) {
    int count = Math.toIntExact(to - from);
    if (count > 0) {
      lanes.get(d).device().module().launch(options.bundle(), by.compute(), parameter, from, count);
    }
  }

  /** Ends what devices run that would wait for others in vain. */
  private void giveUp(int devices) {
    for (int d = 0; d < devices; d++) {
      DeviceLane lane = lanes.get(d);
      quietly(
          () -> {
            lane.device().bind();
            lane.memory().giveUp(lane.transfers());
          });
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

  /** How a device's part of a stage has ended. */
  private record Ended(long failure, long tickets, int[] state) {}

  /**
   * Waits for the rounds of all devices; returns states from the fronts' homes, and the residual.
   */
  private Result collect(DeviceStage stage, long sent, boolean rowsStay) {
    StageProgram one = stage.one();
    int n = stage.programs().size();
    var ended = new Ended[n];
    double[] residual = new double[one.residualSlots() * one.rhs()];
    for (int d = 0; d < n; d++) {
      ended[d] = ended(d, one.fronts(), d == 0 ? residual : new double[0]);
    }
    for (Ended e : ended) {
      StageMemory.checkKinds(e.failure);
    }
    for (Ended e : ended) {
      // the sign bit is SPARQR_GIVEN_UP
      if (e.tickets < 0) {
        throw new IntegrityFailure(
            "a task waited %d ms for tasks that no list of the devices has before it"
                .formatted(StageMemory.waitMillis()));
      }
    }
    if (first.timed()) {
      timelines = lanes.stream().limit(n).map(this::timeline).toList();
    }
    int[] state = new int[one.fronts()];
    FrontDevices map = stage.schedule().map();
    Arrays.setAll(state, f -> ended[map.home(f)].state[f]);
    long received = n * 4L * state.length + 8L * residual.length;
    return new Result(state, residual, sent, received + (rowsStay ? 0 : 8 * one.outDoubles()));
  }

  private DeviceTimeline timeline(DeviceLane lane) {
    lane.device().bind();
    return lane.timeline().read(options.bundle());
  }

  private Ended ended(int d, int fronts, double[] residual) {
    DeviceLane lane = lanes.get(d);
    lane.device().bind();
    // The stream on which its tasks were enqueued; of the first device, which waits for all.
    var compute = inTurn ? first.lane().compute() : lane.compute();
    int head = StageMemory.END_BYTES;
    int sums = 8 * residual.length;
    PinnedBuffer buffer = lane.session().pinned().acquire(head + (long) sums + 4L * fronts + 16);
    try {
      compute.download(buffer, 0, lane.memory().get(Part.PROGRESS).at(0), head);
      if (sums > 0) {
        compute.download(buffer, head, lane.memory().get(Part.RESIDUAL).at(0), sums);
      }
      compute.download(buffer, head + sums, lane.memory().get(Part.STATE).at(0), 4L * fronts);
      compute.synchronize();
      ByteBuffer end = buffer.view(0, head);
      int[] state = new int[fronts];
      buffer.view(head, head + sums).asDoubleBuffer().get(residual);
      buffer.view(head + sums, head + sums + 4 * fronts).asIntBuffer().get(state);
      return new Ended(end.getLong(), end.getLong(), state);
    } finally {
      lane.session().pinned().release(buffer);
    }
  }

  /** Runs PACK_ROWS tasks on a device, on fronts of which it is the home. */
  double[] fetch(int d, ByteBuffer tasks, int count, int outDoubles) {
    StageMemory memory = lanes.get(d).memory();
    int bundle = options.bundle();
    return lanes
        .get(d)
        .fetch(
            tasks,
            count,
            outDoubles,
            true,
            bundle,
            (list, out) -> {
              ByteBuffer p = memory.parameter(-1, bundle, false, list, out);
              // Its own output and no peers: such a list neither waits nor takes.
              p.putLong(8 * Part.FRONTS.ordinal(), peers.get(d).fronts());
              return p;
            });
  }

  @Override
  public void close() {
    for (int d = 0; d < lanes.size(); d++) {
      lanes.get(d).device().bind();
      peers.get(d).close();
      if (d > 0) {
        lanes.get(d).close();
      }
    }
    first.lane().device().bind();
  }
}
