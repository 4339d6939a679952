/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda.driver;

import io.sparqr.backend.cuda.CudaRoundExecutor;
import io.sparqr.backend.cuda.CudaSubtreeFactorizer;
import io.sparqr.backend.cuda.DeviceSessions;
import io.sparqr.backend.cuda.FaultyLaunches;
import io.sparqr.backend.cuda.TestDevice;
import io.sparqr.backend.cuda.TestModes;
import io.sparqr.backend.cuda.transfer.StageMemory;
import io.sparqr.backend.cuda.transfer.StageMemory.Part;
import io.sparqr.backend.reference.Fault;
import io.sparqr.backend.reference.FaultCampaign;
import io.sparqr.backend.reference.FaultTarget;
import io.sparqr.backend.schedule.SchedulerOptions;
import io.sparqr.backend.schedule.SpoiledTasks;
import io.sparqr.backend.schedule.TaskLayout;
import io.sparqr.backend.staged.ForwardingExecutor;
import io.sparqr.backend.staged.HostMemory;
import io.sparqr.backend.staged.executor.RoundExecutor;
import io.sparqr.backend.staged.layout.StageProgram;
import io.sparqr.numeric.integrity.ColumnSums;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import jcuda.driver.CUdeviceptr;

/**
 * The fault campaign on a device. It flips bits in buffers between two tasks of a stage, changes
 * entries of lists, maps and places, and changes the host's memory as on the plain executor.
 * Changed values stay within bounds, because an invalid address would end the process, and Spark
 * would repeat its task elsewhere. Arguments: how many faults; the first seed; size of the problems
 * (3).
 */
final class DeviceFaults extends ForwardingExecutor implements FaultTarget {

  private static final String WAIT = "sparqr.cuda.waitMillis";

  private final CudaRoundExecutor inner;
  private final FaultyLaunches launches;
  private Fault fault;
  private Random random;
  private int moment;
  private int extra;
  private StageProgram program;
  private StageInput input;
  private RowSink sink;
  private String label;
  private String detail;
  private int bit;
  private final List<Runnable> undo = new ArrayList<>();

  private DeviceFaults(CudaRoundExecutor inner, FaultyLaunches launches) {
    this.inner = inner;
    this.launches = launches;
  }

  /** Runs. */
  public static void main(String[] arguments) {
    if (System.getProperty(WAIT) == null) {
      System.setProperty(WAIT, "50");
    }
    int size = arguments.length > 2 ? Integer.parseInt(arguments[2]) : 3;
    var launches = new FaultyLaunches(TestDevice.driver().calls());
    var sessions = new DeviceSessions(new CudaDriver(launches.calls()), 0);
    var lease = sessions.acquire(0);
    SchedulerOptions tuned =
        CudaSubtreeFactorizer.tuned(lease.session().device().multiprocessors());
    // Half of the problems with many tiled fronts.
    SchedulerOptions tiled = tuned.withSmallFronts(600, 24);
    new FaultCampaign(
            (p, seed) ->
                new DeviceFaults(
                    new CudaRoundExecutor(
                        lease.session(), 0, 2, seed % 2 == 0 ? tuned : tiled, TestModes.none()),
                    launches),
            size)
        .run(arguments);
    lease.close();
  }

  @Override
  protected RoundExecutor inner() {
    return inner;
  }

  @Override
  public void arm(Fault what, int when, Random numbers) {
    fault = what;
    moment = when;
    random = numbers;
    extra = 0;
    label = null;
    detail = "";
    bit = -1;
    launches.arm(what == null || onHost() ? null : this::put, when);
  }

  /** Faults in tasks, and in the host's memory. */
  @Override
  public int moments() {
    return (int) launches.tasks() + extra;
  }

  @Override
  public String label() {
    return label;
  }

  @Override
  public String detail() {
    return detail;
  }

  @Override
  public int bit() {
    return bit;
  }

  @Override
  public void restore() {
    Collections.reverse(undo);
    undo.forEach(Runnable::run);
    undo.clear();
    launches.arm(null, 0);
    // Data spoiled on the device must not remain for the next fault.
    inner.safe(true);
    inner.safe(false);
  }

  private boolean onHost() {
    return switch (fault) {
      case HOST_R, HOST_BLOCK, HOST_ROWS, FETCHED, KEPT_Q -> true;
      default -> false;
    };
  }

  /** Changes memory before the next task of the stage. */
  private boolean put(long next) {
    detail = "before task %d of %d".formatted(next, program.schedule().tasks());
    switch (fault) {
      case ARENA -> flip(Part.ARENA, "");
      case VT -> flip(Part.VT, "V, T");
      case ENTRY -> flip(Part.S_VALUE, "S");
      case INPUT -> flip(Part.INPUT, "blocks in");
      case OUT -> flip(Part.OUT, "rows out");
      case RESIDUAL -> flip(Part.RESIDUAL, "residual");
      case STATE -> state();
      case ROW_MAP -> word(Part.MAPS, "row map", HostMemory.map(program, true, random));
      case COLUMN_MAP -> word(Part.MAPS, "column map", HostMemory.map(program, false, random));
      case S_PLACE -> word(Part.S_INDEX, "place of an S entry", HostMemory.place(program, random));
      case COUNT -> record(SpoiledTasks.Kind.COUNT, next);
      case VT_SLOT -> record(SpoiledTasks.Kind.VT_SLOT, next);
      case TILE -> record(SpoiledTasks.Kind.TILE, next);
      case LEFT_OUT -> another(next);
      default -> {}
    }
    return label != null;
  }

  private CUdeviceptr place(Part part, long offset) {
    return inner.memory.get(part).at(offset);
  }

  /** Prefers a value that is not zero. */
  private void flip(Part part, String where) {
    long values = StageMemory.bytes(program, part) / 8;
    if (values == 0) {
      return;
    }
    long at = random.nextLong(values);
    ByteBuffer word = launches.down(place(part, 8 * at), 8);
    for (int k = 0; k < 20 && word.getDouble(0) == 0 && random.nextInt(4) > 0; k++) {
      at = random.nextLong(values);
      word = launches.down(place(part, 8 * at), 8);
    }
    bit = random.nextInt(64);
    double was = word.getDouble(0);
    word.putLong(0, word.getLong(0) ^ 1L << bit);
    String entry = part == Part.ARENA ? HostMemory.place(program, at) : part + " " + at;
    detail += ", %s: %s instead of %s".formatted(entry, word.getDouble(0), was);
    launches.up(place(part, 8 * at), 8);
    label = part == Part.ARENA ? HostMemory.inArena(program, at) : where;
  }

  private void state() {
    int f = random.nextInt(program.fronts());
    ByteBuffer word = launches.down(place(Part.STATE, 4L * f), 4);
    word.putInt(0, (word.getInt(0) + 1 + random.nextInt(2)) % 3);
    launches.up(place(Part.STATE, 4L * f), 4);
    label = "state";
  }

  private void word(Part part, String where, HostMemory.Word to) {
    if (to != null) {
      launches.down(place(part, 4L * to.index()), 4).putInt(0, to.value());
      launches.up(place(part, 4L * to.index()), 4);
      label = where;
    }
  }

  /** A task that has not run. */
  private long later(long next) {
    long left = program.schedule().tasks() - next;
    return left <= 0 ? -1 : next + random.nextLong(left);
  }

  private void record(SpoiledTasks.Kind kind, long next) {
    for (int k = 0; k < 50; k++) {
      long at = later(next);
      if (at < 0) {
        return;
      }
      CUdeviceptr where = place(Part.TASKS, TaskLayout.TASK_BYTES * at);
      ByteBuffer record = launches.down(where, TaskLayout.TASK_BYTES);
      if (SpoiledTasks.spoilOne(kind, record, program, random)) {
        launches.up(where, TaskLayout.TASK_BYTES);
        label = "task: " + kind.name().toLowerCase(Locale.ROOT).replace('_', ' ');
        return;
      }
    }
  }

  /** One task is left out, and another task of the stage runs twice. */
  private void another(long next) {
    long at = later(next);
    long other = random.nextLong(Math.max(1, program.schedule().tasks()));
    if (at >= 0 && other != at) {
      launches.down(place(Part.TASKS, TaskLayout.TASK_BYTES * other), TaskLayout.TASK_BYTES);
      launches.up(place(Part.TASKS, TaskLayout.TASK_BYTES * at), TaskLayout.TASK_BYTES);
      label = "task: left out, another twice";
    }
  }

  /** After a stage's rounds, before its sums. */
  private void hostMoment() {
    extra++;
    if (fault != null && label == null && launches.tasks() + extra > moment) {
      switch (fault) {
        case HOST_R -> flip("R on the host", HostMemory.ofR(sink, random));
        case HOST_BLOCK -> flip("held blocks", HostMemory.ofBlock(sink, random));
        case HOST_ROWS -> flip("rows of A on the host", HostMemory.row(input, random));
        default -> {}
      }
    }
  }

  private void flip(String where, HostMemory.Place at) {
    if (at != null) {
      label = where;
      bit = random.nextInt(64);
      double[] x = at.array();
      double was = x[at.index()];
      x[at.index()] = Double.longBitsToDouble(Double.doubleToRawLongBits(was) ^ 1L << bit);
      undo.add(() -> x[at.index()] = was);
    }
  }

  private void fetched(Fault which, String where, double[] values) {
    extra++;
    boolean due = fault == which && label == null && launches.tasks() + extra > moment;
    if (due && values.length > 0) {
      flip(where, new HostMemory.Place(values, random.nextInt(values.length)));
    }
  }

  @Override
  public Result execute(StageProgram p, StageInput in, double tolerance, RowSink to) {
    program = p;
    input = in;
    sink = to;
    return inner.execute(p, in, tolerance, to);
  }

  @Override
  public void sumAhead(StageProgram p, double[] scale) {
    inner.sumAhead(p, scale);
  }

  @Override
  public Compared compare(StageProgram p, double[] scale, double[] residualSquares) {
    hostMoment();
    return inner.compare(p, scale, residualSquares);
  }

  @Override
  public long inputSums(StageProgram p, double[] scale, boolean[] counts, ColumnSums sums) {
    hostMoment();
    return inner.inputSums(p, scale, counts, sums);
  }

  @Override
  public double[] fetch(ByteBuffer tasks, int count, int outDoubles) {
    double[] rows = inner.fetch(tasks, count, outDoubles);
    fetched(Fault.FETCHED, "rows fetched", rows);
    return rows;
  }

  @Override
  public void read(RoundExecutor.Region region, long from, double[] target) {
    inner.read(region, from, target);
    fetched(Fault.KEPT_Q, "V, T fetched", target);
  }
}
