/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factor;

import io.sparqr.numeric.ResidentFactors;
import io.sparqr.partition.SubtreeTask;
import io.sparqr.partition.TreePartition;
import io.sparqr.spark.cluster.ClusterResources;
import io.sparqr.spark.cluster.StageGpus;
import io.sparqr.spark.engine.Engine;
import io.sparqr.spark.engine.Held;
import io.sparqr.spark.engine.JobScope;
import io.sparqr.spark.engine.SparkErrors;
import io.sparqr.spark.metrics.SubtreeMetrics;
import io.sparqr.spark.metrics.TaskProfile;
import io.sparqr.spark.metrics.WorkDone;
import io.sparqr.spark.parts.Parts;
import io.sparqr.spark.plan.PlanHandle;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.report.SolveReport;
import io.sparqr.spark.stored.KeptFronts;
import io.sparqr.spark.wire.BlockCodec;
import io.sparqr.spark.wire.Frame;
import io.sparqr.spark.wire.RowBatchCodec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.resource.ResourceProfile;
import org.apache.spark.storage.StorageLevel;
import scala.Tuple2;
import scala.reflect.ClassTag$;

/**
 * The levels of the task tree as persisted partitions, each computed from rows and from the
 * contribution blocks of lower levels by one Spark job. The solves with R are in another package.
 */
public final class Levels {

  private final Engine engine;
  private final PlanHandle broadcast;
  private final SolvePlan plan;
  private final ClusterResources resources;
  private final Held held;
  private final Parts<Tuple2<Integer, byte[]>> rows;
  private final RowParts rowParts;
  private final Optional<ResourceProfile> gpus;
  private final SubtreeMetrics metrics;

  /** The name under which R also stays on devices; null: nowhere. */
  private final String resident;

  /** Null if R is kept. */
  private final TaskSolution solution;

  private final List<byte[]> solutions = new ArrayList<>();
  private final List<Parts<Object>> levels = new ArrayList<>();
  private final List<Parts<Tuple2<Integer, byte[]>>> blocks = new ArrayList<>();

  /**
   * Starts without a level.
   *
   * @param rows shuffled rows
   * @param rowParts the assignment of their partitions to tasks
   * @param profiled whether tasks record the time and place of their work
   * @param solution how tasks solve at once, if the plan has one level and only x is wanted; empty:
   *     they keep R
   */
  public Levels(
      Engine engine,
      PlanHandle broadcast,
      ClusterResources resources,
      Held held,
      Parts<Tuple2<Integer, byte[]>> rows,
      RowParts rowParts,
      boolean profiled,
      Optional<TaskSolution> solution) {
    this.solution = solution.orElse(null);
    this.engine = engine;
    this.broadcast = broadcast;
    this.plan = broadcast.value();
    this.resident = this.solution == null && plan.numbers().devices().use() ? broadcast.id() : null;
    this.resources = resources;
    this.held = held;
    this.rows = rows;
    this.rowParts = rowParts;
    this.metrics =
        engine.spark()
            ? new SubtreeMetrics(engine.context().sc(), profiled)
            : SubtreeMetrics.local(profiled);
    this.gpus =
        engine.spark()
            ? StageGpus.profile(engine.context(), resources, plan.numbers().devices())
            : Optional.empty();
  }

  /**
   * Existing levels, to which none can be added.
   *
   * @param stored the frames of each level, one partition per task
   */
  public Levels(JavaSparkContext context, PlanHandle broadcast, List<JavaRDD<byte[]>> stored) {
    this.engine = Engine.of(context);
    this.broadcast = broadcast;
    this.plan = broadcast.value();
    this.resources = null;
    this.held = null;
    this.rows = null;
    this.rowParts = null;
    this.resident = null;
    this.metrics = null;
    this.solution = null;
    this.gpus = Optional.empty();
    stored.forEach(level -> levels.add(Parts.of(level).map((p, it) -> objects(it))));
  }

  /** The name under which R also stays on devices ({@link ResidentFactors}); null: nowhere. */
  public String resident() {
    return resident;
  }

  /** The profiles of the tasks, if requested. */
  public List<TaskProfile> profiles() {
    return metrics == null ? List.of() : metrics.profiles();
  }

  /** The progress of the tasks; not for existing levels. */
  public WorkDone work() {
    return metrics.work();
  }

  /**
   * Threads for each task. For existing levels the executors are unknown, and each task has one.
   */
  public int[] threads() {
    int[] threads = new int[plan.partition().tasks().size()];
    Arrays.fill(threads, 1);
    for (int l = 0; resources != null && l < plan.partition().levels(); l++) {
      List<SubtreeTask> tasks = plan.partition().level(l);
      int[] own = resources.threads(tasks);
      for (int i = 0; i < own.length; i++) {
        threads[tasks.get(i).id()] = own[i];
      }
    }
    return threads;
  }

  /** Receives the progress through the levels. */
  public interface Listener {
    void level(String description);
  }

  /** Factors level by level; returns the reports by task. */
  public List<TaskReport> factorize(StorageLevel storage, JobScope scope, Listener listener) {
    TreePartition partition = plan.partition();
    var reports = new ArrayList<TaskReport>();
    for (int level = 0; level < partition.levels(); level++) {
      List<SubtreeTask> tasks = partition.level(level);
      double flops = tasks.stream().mapToDouble(SubtreeTask::flops).sum();
      String name = "level %d of %d".formatted(level + 1, partition.levels());
      String what =
          "%s, %d subtree%s, %s"
              .formatted(name, tasks.size(), tasks.size() == 1 ? "" : "s", SolveReport.work(flops));
      scope.describe(what);
      listener.level(what);
      Parts<Object> made =
          JobScope.named(
              engine,
              name + ", contribution blocks to their parents",
              () -> level(tasks, storage, what));
      int wanted = solution == null ? 1 : 2;
      List<byte[]> frames =
          TaskRefusal.lookingFor(
              engine,
              tasks.get(0).id(),
              () -> SparkErrors.unwrap(() -> made.map((p, it) -> first(wanted, it)).collect()));
      for (int k = 0; k < frames.size(); k += wanted) {
        reports.add(TaskReport.decode(frames.get(k)));
        solutions.addAll(frames.subList(k + 1, k + wanted));
      }
    }
    return reports;
  }

  /** The first frames of a task's content. */
  private static Iterator<byte[]> first(int count, Iterator<Object> content) {
    var frames = new ArrayList<byte[]>();
    for (int k = 0; k < count; k++) {
      frames.add((byte[]) content.next());
    }
    return frames.iterator();
  }

  /** Whether the tasks have solved and kept no R. */
  public boolean solved() {
    return solution != null;
  }

  /** x of every task, as {@link TaskSolution} makes it, if they have solved. */
  public List<byte[]> solutions() {
    return solutions;
  }

  private Parts<Object> level(List<SubtreeTask> tasks, StorageLevel storage, String what) {
    Parts<Object> level = engine.spark() ? onSpark(tasks, framed(storage)) : local(tasks);
    Parts<Object> kept = level.named("sparqr R, " + what).persist(storage, held);
    if (resident != null) {
      // Before the level is no longer persisted: where it is tells where R stays.
      held.onClose(() -> ResidentRelease.run(engine, broadcast, kept));
    }
    // R that was only on a device may be lost with it: then its task is done again.
    levels.add(resident == null ? kept : kept.mended(KeptFronts::isHere));
    boolean passes = tasks.stream().anyMatch(t -> t.outputs().length > 0);
    blocks.add(passes ? shuffle(kept) : null);
    return kept;
  }

  /**
   * Frames are needed for a storage level that keeps bytes, and if Kryo accepts only registered
   * classes.
   */
  private boolean framed(StorageLevel storage) {
    return !storage.deserialized()
        || Boolean.parseBoolean(engine.setting("spark.kryo.registrationRequired"));
  }

  private Parts<Object> onSpark(List<SubtreeTask> tasks, boolean framed) {
    var sc = engine.context().sc();
    var level =
        new LevelRdd(
            sc,
            broadcast,
            tasks.get(0).id(),
            resources.threads(tasks),
            new Keeping(framed, solution, resident),
            resources.places(sc, tasks),
            metrics,
            rowParts,
            rows.rdd().rdd(),
            needed(tasks).stream().map(b -> b.rdd().rdd()).toList());
    gpus.ifPresent(level::withResources);
    return Parts.of(new JavaRDD<Object>(level, ClassTag$.MODULE$.apply(Object.class)));
  }

  private Parts<Object> local(List<SubtreeTask> tasks) {
    int[] threads = resources.threads(tasks);
    var sources = new ArrayList<>(List.of(rows));
    sources.addAll(needed(tasks));
    int first = tasks.get(0).id();
    return Parts.here(
        tasks.size(),
        i ->
            new LevelTask(
                    broadcast,
                    first,
                    i,
                    threads[i],
                    new Keeping(false, solution, resident),
                    metrics)
                .run(null, sources.size(), k -> sources.get(k).partition(first + i)));
  }

  /** The blocks of those lower levels that are needed by a task of this level. */
  private List<Parts<Tuple2<Integer, byte[]>>> needed(List<SubtreeTask> tasks) {
    var from = new boolean[blocks.size()];
    for (SubtreeTask t : tasks) {
      for (int f : t.inputs()) {
        from[plan.partition().tasks().get(plan.taskOf(f)).level()] = true;
      }
    }
    var list = new ArrayList<Parts<Tuple2<Integer, byte[]>>>();
    for (int l = 0; l < from.length; l++) {
      if (from[l] && blocks.get(l) != null) {
        list.add(blocks.get(l));
      }
    }
    return list;
  }

  private Parts<Tuple2<Integer, byte[]>> shuffle(Parts<Object> level) {
    PlanHandle b = broadcast;
    return level.shuffle(
        Math.max(1, plan.partition().tasks().size()), (p, it) -> blocksOf(b.value(), it));
  }

  private static Iterator<Tuple2<Integer, byte[]>> blocksOf(SolvePlan plan, Iterator<Object> kept) {
    Iterator<byte[]> frames =
        KeptFronts.frames(kept, k -> k == Frame.Kind.BLOCK || k == Frame.Kind.ROWS);
    var out = new ArrayList<Tuple2<Integer, byte[]>>();
    while (frames.hasNext()) {
      byte[] frame = frames.next();
      if (Frame.kind(frame) == Frame.Kind.BLOCK) {
        int parent = plan.analysis().parent(BlockCodec.front(frame));
        out.add(new Tuple2<>(plan.taskOf(parent), frame));
      } else if (Frame.kind(frame) == Frame.Kind.ROWS) {
        out.add(new Tuple2<>(plan.taskOf(RowBatchCodec.firstFront(frame)), frame));
      }
    }
    return out.iterator();
  }

  /**
   * The stored content of a level, one partition per task: its report first, then byte[] frames and
   * {@link KeptFronts}.
   *
   * @throws IllegalStateException without Spark
   */
  public JavaRDD<Object> level(int l) {
    return parts(l).rdd();
  }

  /**
   * Frames of a level; rows of R stored without frames are encoded on the fly.
   *
   * @throws IllegalStateException without Spark
   */
  public JavaRDD<byte[]> frames(int l, Frame.Kind... kinds) {
    List<Frame.Kind> wanted = List.of(kinds);
    return level(l).mapPartitions(kept -> KeptFronts.frames(kept, wanted::contains), true);
  }

  /**
   * The stored content of a level, for either engine.
   *
   * @throws IllegalStateException if the tasks have solved: then there is no R
   */
  public Parts<Object> parts(int l) {
    if (solved()) {
      throw new IllegalStateException("R was not kept: only the solution was asked for");
    }
    return levels.get(l);
  }

  private static Iterator<Object> objects(Iterator<byte[]> frames) {
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        return frames.hasNext();
      }

      @Override
      public Object next() {
        return frames.next();
      }
    };
  }

  /** The engine that holds the levels. */
  public Engine engine() {
    return engine;
  }

  /** Number of levels factored. */
  public int count() {
    return levels.size();
  }
}
