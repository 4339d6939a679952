/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.solve;

import io.sparqr.numeric.Probe;
import io.sparqr.partition.SubtreeTask;
import io.sparqr.spark.engine.Held;
import io.sparqr.spark.engine.JobScope;
import io.sparqr.spark.engine.SparkErrors;
import io.sparqr.spark.exchange.PlanHandle;
import io.sparqr.spark.factor.FactorLevels;
import io.sparqr.spark.parts.Parts;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.solve.Substitution.Part;
import io.sparqr.spark.stored.TaskOutput;
import io.sparqr.spark.wire.ObjectCodec;
import io.sparqr.spark.wire.VectorCodec;
import io.sparqr.spark.wire.VectorCodec.Sparse;
import io.sparqr.threads.Parallel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Triangular solves with all of R: up the tree for R'y = c, one Spark job per level, and down it
 * for R x = c, one for all levels between which x stays on its executor ({@link SolvePasses}); none
 * for a level whose R is on devices of the driver's JVM. A task receives only the entries that it
 * needs; vectors as long as a row of A are on the driver.
 */
public final class LevelSolve {

  private final PlanHandle broadcast;
  private final SolvePlan plan;
  private final FactorLevels levels;

  /** Null: all fronts. */
  private final @Nullable Support support;

  private String residence = "";

  /** By task, found once. */
  private final Map<Integer, Part> parts = new ConcurrentHashMap<>();

  /** Solves with the R of these levels. */
  public LevelSolve(PlanHandle broadcast, FactorLevels levels) {
    this(broadcast, levels, null);
  }

  private LevelSolve(PlanHandle broadcast, FactorLevels levels, @Nullable Support support) {
    this.support = support;
    this.broadcast = broadcast;
    this.plan = broadcast.value();
    this.levels = levels;
  }

  /** Whether {@link #on} can solve on some fronts only: devices solve with all of their R. */
  public boolean isSelective() {
    return levels.resident() == null;
  }

  /**
   * Solves with R on some fronts only: vectors then have a value at each {@link Support#index}, and
   * are 0 elsewhere. Tasks without such a front do nothing.
   *
   * @throws IllegalStateException unless {@link #isSelective}
   */
  public LevelSolve on(Support fronts) {
    if (!isSelective()) {
      throw new IllegalStateException("R is on devices");
    }
    return new LevelSolve(broadcast, levels, fronts);
  }

  /**
   * R x = c from the top level down.
   *
   * @param x by position, width values each; in: c at the pivots; out: x
   */
  public void back(double[] x, int width, JobScope scope) {
    down(Substitution.BACK, x, width, scope);
  }

  /**
   * R x = Q'b for the right-hand sides stored with R, and R z = w for the {@link Probe}.
   *
   * @param x out: by position, a value for each right-hand side and the probe
   */
  public void backStored(double[] x, JobScope scope) {
    if (levels.solved()) {
      levels.solutions().forEach(frame -> place(VectorCodec.decodeSparse(frame), x));
      return;
    }
    List<byte[]> top = levels.takeTop();
    top.forEach(frame -> place(VectorCodec.decodeSparse(frame), x));
    int from = top.isEmpty() ? levels.count() : levels.count() - 1;
    down(Substitution.STORED, x, plan.numbers().rhsCount() + Probe.COUNT, from, scope);
  }

  /**
   * R x = Q'b by tasks that have solved with the probe's norm alone ({@link
   * SolveInTask#WITH_NORM}).
   *
   * @param x out: by position, a value for each right-hand side
   * @return ||R^-1 w||
   */
  public double solved(double[] x) {
    var norm = new NormSum();
    for (byte[] frame : levels.solutions()) {
      VectorCodec.Solution made = VectorCodec.decodeSolution(frame);
      int[] position = indices(made.position());
      int width = made.width();
      if (consecutive(position)) {
        made.value().get(0, x, position[0] * width, position.length * width);
      } else {
        for (int i = 0; i < position.length; i++) {
          made.value().get(i * width, x, position[i] * width, width);
        }
      }
      norm.add(made.norm());
    }
    return norm.norm();
  }

  /**
   * R x = 0 from the top level down, with x given at the dead columns.
   *
   * @param x by position, width values each; in: x at the dead columns, 0 elsewhere; out: x, except
   *     for singletons
   */
  public void homogeneous(double[] x, int width, JobScope scope) {
    down(Substitution.HOMOGENEOUS, x, width, scope);
  }

  /** R'y = c from the lowest level up, in place, by position; 0 in dead columns. */
  public void forward(double[] c, int width, JobScope scope) {
    forward(c, width, false, scope);
  }

  /**
   * As above.
   *
   * @param rest whether dead columns receive the remainder of c instead of 0
   */
  public void forward(double[] c, int width, boolean rest, JobScope scope) {
    up(rest ? Substitution.FORWARD_WITH_REST : Substitution.FORWARD, c, width, scope);
  }

  /**
   * R'R x = c by position; 0 in dead columns. One step if the plan has one level: each task has
   * whole trees then, and solves with R and R' at once.
   *
   * @param c overwritten
   * @return x: c, or the array of a device that had all of R
   */
  public double[] normal(double[] c, int width, JobScope scope) {
    var where = new ArrayList<TaskSolve.Where>();
    double[] x = c;
    if (levels.count() == 1) {
      scope.describe("forward and back substitution");
      List<double[]> made = made(0, Substitution.NORMAL, c, width, where);
      if (made.size() == 1 && made.get(0).length == c.length) {
        x = made.get(0);
      } else {
        put(0, Substitution.NORMAL, made, c, width);
      }
    } else {
      where.addAll(up(Substitution.FORWARD, c, width, scope));
      where.addAll(down(Substitution.BACK, c, width, scope));
    }
    residence = TaskSolve.summary(where);
    return x;
  }

  /**
   * Where the last {@link #normal} since the last call was done, in one line; empty if there were
   * none, or no devices.
   */
  public String takeResidence() {
    String last = residence;
    residence = "";
    return last;
  }

  private List<TaskSolve.Where> up(Substitution what, double[] c, int width, JobScope scope) {
    var where = new ArrayList<TaskSolve.Where>();
    for (int l = 0; l < levels.count(); l++) {
      if (plan.partition().level(l).stream().noneMatch(this::takesPart)) {
        continue;
      }
      scope.describe("forward substitution, level " + (l + 1) + " of " + levels.count());
      put(l, what, made(l, what, c, width, where), c, width);
    }
    return where;
  }

  private List<TaskSolve.Where> down(Substitution what, double[] x, int width, JobScope scope) {
    return down(what, x, width, levels.count(), scope);
  }

  /**
   * Down the tree from below a level.
   *
   * @param from the level above the first
   */
  private List<TaskSolve.Where> down(
      Substitution what, double[] x, int width, int from, JobScope scope) {
    var where = new ArrayList<TaskSolve.Where>();
    for (List<int[]> pass : parted(passes(from))) {
      int[] level =
          pass.stream().flatMapToInt(Arrays::stream).map(t -> task(t).level()).sorted().toArray();
      int low = level[0];
      int high = level[level.length - 1];
      if (low < high) {
        scope.describe(
            "back substitution, levels %d to %d of %d"
                .formatted(high + 1, low + 1, levels.count()));
      } else {
        scope.describe("back substitution, level " + (low + 1) + " of " + levels.count());
      }
      if (low == high && level.length == plan.partition().level(low).size()) {
        put(low, what, made(low, what, x, width, where), x, width);
      } else {
        together(pass, what, x, width, where);
      }
    }
    return where;
  }

  private boolean takesPart(SubtreeTask task) {
    return support == null || Arrays.stream(task.fronts()).anyMatch(support::has);
  }

  /** The passes without the tasks that do nothing. */
  private List<List<int[]>> parted(List<List<int[]>> passes) {
    if (support == null) {
      return passes;
    }
    return passes.stream()
        .map(
            pass ->
                pass.stream()
                    .map(g -> Arrays.stream(g).filter(t -> takesPart(task(t))).toArray())
                    .filter(g -> g.length > 0)
                    .toList())
        .filter(pass -> !pass.isEmpty())
        .toList();
  }

  private SubtreeTask task(int id) {
    return plan.partition().tasks().get(id);
  }

  /** The groups of tasks that solve at a time, level by level where nobody knows where R is. */
  private List<List<int[]>> passes(int from) {
    if (from < 2 || levels.resident() != null) {
      return IntStream.range(0, from)
          .map(l -> from - 1 - l)
          .mapToObj(l -> plan.partition().level(l).stream().map(t -> new int[] {t.id()}).toList())
          .toList();
    }
    var tasks = new ArrayList<SolvePasses.Task>();
    for (int l = 0; l < levels.count(); l++) {
      List<SubtreeTask> of = plan.partition().level(l);
      List<List<String>> at = l < from ? levels.parts(l).storedAt() : List.of();
      for (int i = 0; i < of.size(); i++) {
        List<String> executors = at.isEmpty() ? List.of() : at.get(i);
        tasks.add(
            new SolvePasses.Task(
                l,
                needs(of.get(i)),
                bytes(of.get(i)),
                executors.isEmpty() ? "" : executors.get(0)));
      }
    }
    return SolvePasses.of(tasks, from);
  }

  /** The tasks above that have the pivots at the columns outside a task, ascending. */
  private int[] needs(SubtreeTask task) {
    return Arrays.stream(part(task).outside())
        .map(p -> plan.taskOf(plan.frontOf(p)))
        .sorted()
        .distinct()
        .toArray();
  }

  /** Bytes of a task's R at full rank. */
  private long bytes(SubtreeTask task) {
    long entries = 0;
    for (int f : task.fronts()) {
      long pivots = plan.analysis().fp(f);
      entries += pivots * (pivots + 1) / 2 + pivots * plan.analysis().cn(f);
    }
    return Double.BYTES * entries;
  }

  /** Solves with the tasks of a pass, those of a group one after the other, and sets x. */
  private void together(
      List<int[]> pass, Substitution what, double[] x, int width, List<TaskSolve.Where> where) {
    List<List<Parts.Member>> groups =
        pass.stream()
            .map(group -> Arrays.stream(group).mapToObj(t -> member(t, what, x, width)).toList())
            .toList();
    List<Parts<TaskOutput>> sources =
        IntStream.range(0, levels.count()).mapToObj(levels::parts).toList();
    PlanHandle b = broadcast;
    int[] threads = levels.threads();
    try (var held = new Held()) {
      Parts<byte[]> solved =
          Parts.grouped(
              sources,
              groups,
              held,
              (kept, given) -> TaskSolve.together(what, b.value(), kept, given, threads));
      Iterator<byte[]> frames = SparkErrors.unwrap(solved::collect).iterator();
      while (frames.hasNext()) {
        place(VectorCodec.decodeSparse(frames.next()), x);
        where.add(ObjectCodec.decode(frames.next(), TaskSolve.Where.class));
      }
    }
  }

  private Parts.Member member(int id, Substitution what, double[] x, int width) {
    SubtreeTask task = task(id);
    return new Parts.Member(
        task.level(),
        id - plan.partition().level(task.level()).get(0).id(),
        input(task, what, x, width));
  }

  /**
   * What a level's tasks make.
   *
   * @param x by position; not changed
   * @param where receives where each task has solved
   */
  private List<double[]> made(
      int level, Substitution what, double[] x, int width, List<TaskSolve.Where> where) {
    List<SubtreeTask> tasks = plan.partition().level(level);
    List<double[]> near = onDevices(tasks, what, x, width);
    if (!near.isEmpty()) {
      tasks.forEach(t -> where.add(new TaskSolve.Where(t.id(), true, "")));
      return near;
    }
    var made = new ArrayList<double[]>();
    List<byte[]> frames = run(level, inputs(tasks, what, x, width), what);
    for (int k = 0; k < frames.size(); k += 2) {
      made.add(VectorCodec.decodeSparse(frames.get(k)).value());
      where.add(ObjectCodec.decode(frames.get(k + 1), TaskSolve.Where.class));
    }
    return made;
  }

  private Part part(SubtreeTask task) {
    Support some = support;
    return parts.computeIfAbsent(
        task.id(), id -> Part.of(plan.analysis(), task, some == null ? f -> true : some::has));
  }

  /**
   * What the tasks of a level make on devices of this JVM, for which Spark has nothing to do; empty
   * unless R is still there for all of them.
   */
  private List<double[]> onDevices(
      List<SubtreeTask> tasks, Substitution what, double[] x, int width) {
    String resident = levels.resident();
    if (resident == null || !tasks.stream().allMatch(t -> TaskSolve.isResident(resident, t.id()))) {
      return List.of();
    }
    double[][] made = new double[tasks.size()][];
    Parallel.loop(
        made.length,
        1,
        Math.min(made.length, Runtime.getRuntime().availableProcessors()),
        (from, to, thread) -> {
          for (int t = from; t < to; t++) {
            SubtreeTask task = tasks.get(t);
            double[] given = gathered(x, what.given(part(task)), width);
            made[t] =
                TaskSolve.onDevice(
                        resident, task.id(), r -> what.onDevice(r, given, width), new ArrayList<>())
                    .orElse(null);
          }
        });
    return Arrays.stream(made).anyMatch(Objects::isNull) ? List.of() : List.of(made);
  }

  /** What a level's tasks make of their inputs: two frames each. */
  private List<byte[]> run(int level, List<byte[]> inputs, Substitution what) {
    PlanHandle b = broadcast;
    int[] threads = levels.threads();
    String resident = levels.resident();
    try (var held = new Held()) {
      Parts<byte[]> solved =
          levels
              .parts(level)
              .map(
                  inputs, held, (kept, in) -> solved(what, b.value(), kept, in, resident, threads));
      return SparkErrors.unwrap(solved::collect);
    }
  }

  private static Iterator<byte[]> solved(
      Substitution what,
      SolvePlan plan,
      Iterator<TaskOutput> kept,
      byte[] given,
      @Nullable String resident,
      int[] threads) {
    Sparse in = VectorCodec.decodeSparse(given);
    return TaskSolve.run(what, plan, kept, in, resident, threads).iterator();
  }

  private List<byte[]> inputs(List<SubtreeTask> tasks, Substitution what, double[] x, int width) {
    var list = new ArrayList<byte[]>();
    for (SubtreeTask t : tasks) {
      list.add(input(t, what, x, width));
    }
    return list;
  }

  private byte[] input(SubtreeTask task, Substitution what, double[] x, int width) {
    int[] position = what.given(part(task));
    double[] value = gathered(x, indices(position), width);
    return VectorCodec.encodeSparse(new Sparse(position, value, width));
  }

  /** Sets x at the pivots of a level's tasks, and adds their updates at the columns outside. */
  private void put(int level, Substitution what, List<double[]> made, double[] x, int width) {
    List<SubtreeTask> tasks = plan.partition().level(level);
    for (int t = 0; t < tasks.size(); t++) {
      double[] value = made.get(t);
      int[] pivots = part(tasks.get(t)).pivots();
      place(new Sparse(pivots, value, width), x);
      int[] position = what.made(part(tasks.get(t)));
      for (int i = pivots.length; i < position.length; i++) {
        int at = index(position[i]) * width;
        for (int k = 0; k < width; k++) {
          x[at + k] += value[i * width + k];
        }
      }
    }
  }

  /** Where values at positions are in a vector. */
  private int[] indices(int[] position) {
    return support == null ? position : Arrays.stream(position).map(support::index).toArray();
  }

  private int index(int position) {
    return support == null ? position : support.index(position);
  }

  private void place(Sparse piece, double[] x) {
    int[] position = indices(piece.position());
    int width = piece.width();
    if (consecutive(position)) {
      System.arraycopy(piece.value(), 0, x, position[0] * width, position.length * width);
      return;
    }
    for (int i = 0; i < position.length; i++) {
      System.arraycopy(piece.value(), i * width, x, position[i] * width, width);
    }
  }

  /** The values at some positions; c itself if they are all. */
  private static double[] gathered(double[] c, int[] position, int width) {
    if (all(position, c, width)) {
      return c;
    }
    if (consecutive(position)) {
      return Arrays.copyOfRange(c, position[0] * width, (position[0] + position.length) * width);
    }
    double[] own = new double[position.length * width];
    for (int i = 0; i < position.length; i++) {
      System.arraycopy(c, position[i] * width, own, i * width, width);
    }
    return own;
  }

  /** Whether positions are all those of c. */
  private static boolean all(int[] position, double[] c, int width) {
    return consecutive(position) && position.length * width == c.length;
  }

  /** Whether positions follow each other, as those of a task of all fronts do. */
  private static boolean consecutive(int[] position) {
    for (int i = 1; i < position.length; i++) {
      if (position[i] != position[0] + i) {
        return false;
      }
    }
    return position.length > 0;
  }
}
