/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.solve;

import io.sparqr.numeric.ResidentFactor;
import io.sparqr.partition.SubtreeTask;
import io.sparqr.spark.factor.Levels;
import io.sparqr.spark.plan.PlanHandle;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.resource.Exchange;
import io.sparqr.spark.resource.Held;
import io.sparqr.spark.resource.JobScope;
import io.sparqr.spark.resource.Parts;
import io.sparqr.spark.resource.SparkErrors;
import io.sparqr.spark.wire.ObjectCodec;
import io.sparqr.spark.wire.VectorCodec;
import io.sparqr.spark.wire.VectorCodec.Sparse;
import io.sparqr.threads.Parallel;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * Triangular solves with all of R, level by level: one Spark job per level, up the tree for R'y = c
 * and down it for R x = c. A task receives only the entries that it needs; vectors as long as a row
 * of A are on the driver.
 */
public final class LevelSolve {

  private final PlanHandle broadcast;
  private final SolvePlan plan;
  private final Levels levels;
  private String residence = "";

  /** Of the tasks of a single level, if they have solved on devices of this JVM. */
  private int[][] pivots;

  /** Solves with the R of these levels. */
  public LevelSolve(PlanHandle broadcast, Levels levels) {
    this.broadcast = broadcast;
    this.plan = broadcast.value();
    this.levels = levels;
  }

  /**
   * R x = c from the top level down.
   *
   * @param x by position, width values each; in: c at the pivots unless {@code stored}; out: x
   */
  public void back(double[] x, int width, boolean stored, JobScope scope) {
    if (stored && levels.solved()) {
      collect(levels.solutions(), x);
      return;
    }
    if (stored && levels.count() == 1) {
      storedWithR(x, width, scope);
      return;
    }
    PlanHandle b = broadcast;
    int[] threads = levels.threads();
    down(
        x,
        width,
        !stored,
        scope,
        (kept, given) -> List.of(TriangularSolve.back(b.value(), kept, given, stored, threads)));
  }

  /** R x = Q'b in tasks that have whole trees, on their devices if R is still there. */
  private void storedWithR(double[] x, int width, JobScope scope) {
    List<double[]> found = onDevices((t, r) -> r.solveStored());
    List<SubtreeTask> tasks = plan.partition().level(0);
    for (int t = 0; t < found.size(); t++) {
      place(new Sparse(pivots(tasks)[t], found.get(t), width), x);
    }
    if (!found.isEmpty()) {
      return;
    }
    PlanHandle b = broadcast;
    int[] threads = levels.threads();
    String resident = levels.resident();
    down(
        x,
        width,
        false,
        scope,
        (kept, given) -> List.of(NormalSolve.stored(b.value(), kept, given, resident, threads)));
  }

  /** The work of task t with its R. */
  private interface Resident {
    Optional<double[]> solve(int t, ResidentFactor r);
  }

  /**
   * The solutions of all tasks of the only level by devices of this JVM; empty unless R is still
   * there for all of them.
   */
  private List<double[]> onDevices(Resident work) {
    if (levels.resident() == null || !Exchange.possible(levels.engine())) {
      return List.of();
    }
    List<SubtreeTask> tasks = plan.partition().level(0);
    double[][] x = new double[tasks.size()][];
    Parallel.loop(
        tasks.size(),
        1,
        tasks.size(),
        (from, to, thread) -> {
          for (int t = from; t < to; t++) {
            int number = t;
            x[t] =
                NormalSolve.onDevice(
                        levels.resident(),
                        tasks.get(t).id(),
                        r -> work.solve(number, r),
                        new ArrayList<>())
                    .orElse(null);
          }
        });
    return Arrays.stream(x).anyMatch(Objects::isNull) ? List.of() : List.of(x);
  }

  /**
   * R x = 0 from the top level down, with x given at the dead columns.
   *
   * @param x by position, width values each; in: x at the dead columns, 0 elsewhere; out: x, except
   *     for singletons
   */
  public void homogeneous(double[] x, int width, JobScope scope) {
    PlanHandle b = broadcast;
    int[] threads = levels.threads();
    down(
        x,
        width,
        true,
        scope,
        (kept, given) -> List.of(TriangularSolve.homogeneous(b.value(), kept, given, threads)));
  }

  /**
   * R'R x = c by position; 0 in dead columns. One job if the plan has one level: each task has
   * whole trees then, and solves with R and R' at once, on its device if R is still there.
   *
   * @param c overwritten
   * @return x: c, or the array of a device that had all of R
   */
  public double[] normal(double[] c, int width, JobScope scope) {
    if (levels.count() != 1) {
      residence =
          levels.count() > 1 && plan.numbers().devices().use()
              ? "R on the device for no task: the plan has several levels"
              : "";
      forward(c, width, scope);
      back(c, width, false, scope);
      return c;
    }
    Optional<double[]> near = near(c, width);
    if (near.isPresent()) {
      return near.get();
    }
    scope.describe("forward and back substitution");
    PlanHandle b = broadcast;
    int[] threads = levels.threads();
    String resident = levels.resident();
    List<byte[]> frames =
        run(
            0,
            inputs(plan.partition().level(0), c, width, false, true),
            (kept, given) -> NormalSolve.run(b.value(), kept, given, resident, threads));
    var where = new ArrayList<NormalSolve.Where>();
    var solved = new ArrayList<byte[]>();
    for (int k = 0; k < frames.size(); k += 2) {
      solved.add(frames.get(k));
      where.add(ObjectCodec.decode(frames.get(k + 1), NormalSolve.Where.class));
    }
    residence = NormalSolve.summary(where);
    collect(solved, c);
    return c;
  }

  /**
   * The same on the devices of this JVM, if R is still there for all tasks: then there is nothing
   * for Spark to do. Otherwise empty, and c is as it was.
   */
  private Optional<double[]> near(double[] c, int width) {
    if (levels.resident() == null) {
      return Optional.empty();
    }
    List<SubtreeTask> tasks = plan.partition().level(0);
    int[][] own = pivots(tasks);
    List<double[]> x = onDevices((t, r) -> r.solve(gathered(c, own[t], width), width));
    if (x.isEmpty()) {
      return Optional.empty();
    }
    residence =
        NormalSolve.summary(
            tasks.stream().map(t -> new NormalSolve.Where(t.id(), true, "")).toList());
    if (all(own[0], c, width)) {
      return Optional.of(x.get(0));
    }
    for (int t = 0; t < x.size(); t++) {
      place(new Sparse(own[t], x.get(t), width), c);
    }
    return Optional.of(c);
  }

  /** The pivots of the tasks, found once. */
  private int[][] pivots(List<SubtreeTask> tasks) {
    if (pivots == null) {
      pivots =
          tasks.stream().map(t -> TriangularSolve.pivots(plan.analysis(), t)).toArray(int[][]::new);
    }
    return pivots;
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

  /** The work of a task with its part of R and the given values. */
  private interface Substitution extends Serializable {
    List<byte[]> of(Iterator<Object> kept, Sparse given);
  }

  private void down(
      double[] x, int width, boolean pivots, JobScope scope, Substitution substitution) {
    for (int l = levels.count() - 1; l >= 0; l--) {
      scope.describe("back substitution, level " + (l + 1) + " of " + levels.count());
      List<SubtreeTask> tasks = plan.partition().level(l);
      collect(run(l, inputs(tasks, x, width, true, pivots), substitution), x);
    }
  }

  /** The results of a level's tasks for their inputs. */
  private List<byte[]> run(int level, List<byte[]> inputs, Substitution substitution) {
    if (!levels.engine().spark()) {
      return levels
          .parts(level)
          .map(inputs, (kept, in) -> solved(substitution, kept, in))
          .collect();
    }
    try (var held = new Held()) {
      var given = new TaskInput(levels.engine().context(), held, inputs);
      Parts<byte[]> solved =
          levels
              .parts(level)
              .map(given.elements(), (kept, in) -> solved(substitution, kept, given.frame(in)));
      return SparkErrors.unwrap(solved::collect);
    }
  }

  private static Iterator<byte[]> solved(
      Substitution substitution, Iterator<Object> kept, byte[] given) {
    return substitution.of(kept, VectorCodec.decodeSparse(given)).iterator();
  }

  /** R'y = c from the lowest level up, in place, by position; 0 in dead columns. */
  public void forward(double[] c, int width, JobScope scope) {
    forward(c, width, false, scope);
  }

  /**
   * The same.
   *
   * @param rest whether dead columns receive the remainder of c instead of 0
   */
  public void forward(double[] c, int width, boolean rest, JobScope scope) {
    PlanHandle b = broadcast;
    int[] threads = levels.threads();
    for (int l = 0; l < levels.count(); l++) {
      scope.describe("forward substitution, level " + (l + 1) + " of " + levels.count());
      List<SubtreeTask> tasks = plan.partition().level(l);
      List<byte[]> pieces =
          run(
              l,
              inputs(tasks, c, width, false, true),
              (kept, given) ->
                  List.of(TriangularSolve.forward(b.value(), kept, given, rest, threads)));
      for (int t = 0; t < tasks.size(); t++) {
        addForward(tasks.get(t), VectorCodec.decodeSparse(pieces.get(t)), c, width);
      }
    }
  }

  /** Sets the task's own pivots and adds the values outside. */
  private void addForward(SubtreeTask task, Sparse piece, double[] c, int width) {
    int own = TriangularSolve.pivots(plan.analysis(), task).length;
    for (int i = 0; i < piece.position().length; i++) {
      int at = piece.position()[i] * width;
      for (int k = 0; k < width; k++) {
        double v = piece.value()[i * width + k];
        c[at + k] = i < own ? v : c[at + k] + v;
      }
    }
  }

  private List<byte[]> inputs(
      List<SubtreeTask> tasks, double[] x, int width, boolean outside, boolean pivots) {
    var list = new ArrayList<byte[]>();
    for (SubtreeTask t : tasks) {
      int[] out = outside ? TriangularSolve.outside(plan.analysis(), t) : new int[0];
      int[] own = pivots ? TriangularSolve.pivots(plan.analysis(), t) : new int[0];
      int[] position = Arrays.copyOf(out, out.length + own.length);
      System.arraycopy(own, 0, position, out.length, own.length);
      double[] value = new double[position.length * width];
      for (int i = 0; i < position.length; i++) {
        System.arraycopy(x, position[i] * width, value, i * width, width);
      }
      list.add(VectorCodec.encodeSparse(new Sparse(position, value, width)));
    }
    return list;
  }

  private static void collect(List<byte[]> solved, double[] x) {
    for (byte[] frame : solved) {
      place(VectorCodec.decodeSparse(frame), x);
    }
  }

  private static void place(Sparse piece, double[] x) {
    int[] position = piece.position();
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

  /** Whether ascending positions are all those of c. */
  private static boolean all(int[] position, double[] c, int width) {
    return consecutive(position) && position.length * width == c.length;
  }

  /** Whether ascending positions are a range, as those of a task of all fronts are. */
  private static boolean consecutive(int[] position) {
    int n = position.length;
    return n > 0 && position[n - 1] - position[0] == n - 1;
  }
}
