/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.reference;

import io.sparqr.backend.schedule.SchedulerOptions;
import io.sparqr.backend.schedule.SpoiledTasks;
import io.sparqr.backend.schedule.StageSchedule;
import io.sparqr.backend.staged.ForwardingExecutor;
import io.sparqr.backend.staged.HostMemory;
import io.sparqr.backend.staged.executor.RoundExecutor;
import io.sparqr.backend.staged.layout.StageProgram;
import io.sparqr.numeric.integrity.ColumnSums;
import java.nio.ByteBuffer;
import java.nio.DoubleBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/**
 * The plain executor with one fault. Moments are the start of each round (of each task, if tasks
 * run as their counts allow), before a stage's values are sent, before its rows go to the host, and
 * before and after sums are taken.
 */
public final class FaultyExecutor extends ForwardingExecutor implements FaultTarget {

  private static final int LEAST_RIGHT = 20;
  private static final int RIGHT_BITS = 25;

  /** Places looked at for one in Q'b that is not zero. */
  private static final int RIGHT_TRIES = 3000;

  private final TaskListExecutor inner;
  private Fault fault;
  private int moment;
  private Random random;
  private int moments;
  private boolean running;
  private StageInput input;
  private RowSink sink;

  /** Undoes changes of memory that outlives the task. */
  private final List<Runnable> undo = new ArrayList<>();

  private String label;
  private int bit;

  /** Whether all faults are changes of Q'b in fronts. */
  private boolean right;

  /**
   * Without a fault.
   *
   * @param free whether tasks run as their counts allow, in random order
   */
  public FaultyExecutor(SchedulerOptions options, boolean free, long seed) {
    var choices = new Random(seed);
    inner =
        new TaskListExecutor(
            options,
            Runtime.getRuntime().maxMemory() / 2,
            (round, tasks) -> {
              moment();
              return null;
            },
            free ? count -> choose(choices, count) : null,
            this::list);
  }

  /**
   * Makes all faults changes of Q'b in fronts, by bits from {@value #LEAST_RIGHT} on: by 2^-8 to
   * 2^-32 of it. Larger ones are seen in its square, smaller ones are within the bound.
   */
  FaultyExecutor inRightHandSides() {
    right = true;
    return this;
  }

  private int choose(Random choices, int count) {
    moment();
    return choices.nextInt(count);
  }

  @Override
  protected RoundExecutor inner() {
    return inner;
  }

  @Override
  public void arm(Fault what, int when, Random numbers) {
    fault = what != null && right ? Fault.ARENA : what;
    moment = when;
    random = numbers;
    moments = 0;
    label = null;
    bit = -1;
  }

  @Override
  public int moments() {
    return moments;
  }

  @Override
  public String label() {
    return label;
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
  }

  private boolean due() {
    return fault != null && label == null && moments > moment;
  }

  private void moment() {
    moments++;
    if (due()) {
      switch (fault) {
        case ARENA -> arena();
        case VT -> flip("V, T", running ? inner.stage.vt : null);
        case ENTRY -> flip("S", running ? inner.stage.entry : null);
        case INPUT -> flip("blocks in", running ? inner.stage.input : null);
        case OUT -> flip("rows out", running ? inner.stage.out : null);
        case RESIDUAL -> flip("residual", running ? inner.stage.residual : null);
        case STATE -> state();
        case HOST_R -> flip("R on the host", sink == null ? null : HostMemory.ofR(sink, random));
        case HOST_BLOCK ->
            flip("held blocks", sink == null ? null : HostMemory.ofBlock(sink, random));
        case HOST_ROWS ->
            flip("rows of A on the host", running ? HostMemory.row(input, random) : null);
        case ROW_MAP, COLUMN_MAP, S_PLACE -> word();
        default -> {}
      }
    }
  }

  private void flip(String where, double[] x) {
    if (x != null && x.length > 0) {
      int i = random.nextInt(x.length);
      for (int k = 0; k < 20 && x[i] == 0 && random.nextInt(4) > 0; k++) {
        i = random.nextInt(x.length);
      }
      flip(where, new HostMemory.Place(x, i));
    }
  }

  private void flip(String where, HostMemory.Place at) {
    if (at != null) {
      label = where;
      bit = right ? LEAST_RIGHT + random.nextInt(RIGHT_BITS) : random.nextInt(64);
      double[] x = at.array();
      double was = x[at.index()];
      x[at.index()] = Double.longBitsToDouble(Double.doubleToRawLongBits(was) ^ 1L << bit);
      undo.add(() -> x[at.index()] = was);
    }
  }

  /** A place in a front and its value. */
  private void arena() {
    if (!running || inner.stage.arena.length == 0) {
      return;
    }
    int at = random.nextInt(inner.stage.arena.length);
    for (int k = 0; k < (right ? RIGHT_TRIES : 20) && unlikely(at); k++) {
      at = random.nextInt(inner.stage.arena.length);
    }
    String where = HostMemory.inArena(inner.stage.program, at);
    if (right && !where.equals(HostMemory.RIGHT)) {
      return;
    }
    flip(where, new HostMemory.Place(inner.stage.arena, at));
  }

  private boolean unlikely(int at) {
    boolean zero = inner.stage.arena[at] == 0;
    return right
        ? zero || !HostMemory.inArena(inner.stage.program, at).equals(HostMemory.RIGHT)
        : zero && random.nextInt(4) > 0;
  }

  private void word() {
    if (running && fault == Fault.S_PLACE) {
      change(
          "place of an S entry",
          inner.stage.program.sIndex(),
          HostMemory.place(inner.stage.program, random));
    } else if (running) {
      boolean row = fault == Fault.ROW_MAP;
      String where = row ? "row map" : "column map";
      change(where, inner.stage.program.maps(), HostMemory.map(inner.stage.program, row, random));
    }
  }

  private void state() {
    if (running && inner.stage.state.length > 0) {
      int f = random.nextInt(inner.stage.state.length);
      inner.stage.state[f] = (inner.stage.state[f] + 1 + random.nextInt(2)) % 3;
      label = "state";
    }
  }

  private void change(String where, int[] words, HostMemory.Word to) {
    if (to != null) {
      int was = words[to.index()];
      words[to.index()] = to.value();
      undo.add(() -> words[to.index()] = was);
      label = where;
    }
  }

  private ByteBuffer list(StageSchedule schedule, int from, int to) {
    ByteBuffer list = TaskListExecutor.written(schedule, from, to);
    running = true;
    moments++;
    if (due() && fault.task() != null) {
      ByteBuffer spoiled = SpoiledTasks.spoil(fault.task(), list, inner.stage.program, random);
      if (spoiled != null) {
        label = "task: " + fault.task().name().toLowerCase(java.util.Locale.ROOT).replace('_', ' ');
        return spoiled;
      }
    }
    return list;
  }

  @Override
  public Result execute(StageProgram p, StageInput in, double tolerance, RowSink to) {
    running = false;
    input = in;
    sink = to;
    moment();
    Result r = inner.execute(p, in, tolerance, new Rows(to));
    moment();
    return r;
  }

  /** A moment before the first rows. */
  private final class Rows implements RowSink {
    private final RowSink to;
    private boolean came;

    Rows(RowSink to) {
      this.to = to;
    }

    @Override
    public void underWay() {
      to.underWay();
    }

    @Override
    public void accept(int front, DoubleBuffer rows) {
      if (!came) {
        came = true;
        moment();
      }
      to.accept(front, rows);
    }
  }

  @Override
  public long inputSums(StageProgram p, double[] scale, boolean[] counts, ColumnSums sums) {
    long bits = inner.inputSums(p, scale, counts, sums);
    moment();
    return bits;
  }

  @Override
  public long outputSums(StageProgram p, double[] scale, boolean[] counts, ColumnSums sums) {
    long bits = inner.outputSums(p, scale, counts, sums);
    moment();
    return bits;
  }

  @Override
  public double[] fetch(ByteBuffer tasks, int count, int outDoubles) {
    double[] rows = inner.fetch(tasks, count, outDoubles);
    moments++;
    if (due() && fault == Fault.FETCHED) {
      flip("rows fetched", rows);
    }
    return rows;
  }

  @Override
  public void read(Region region, long from, double[] target) {
    inner.read(region, from, target);
    moments++;
    if (due() && fault == Fault.KEPT_Q) {
      flip("V, T fetched", target);
    }
  }
}
