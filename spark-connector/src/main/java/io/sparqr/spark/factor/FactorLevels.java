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
import io.sparqr.spark.engine.PlannedPlaces;
import io.sparqr.spark.engine.SparkErrors;
import io.sparqr.spark.exchange.PlanHandle;
import io.sparqr.spark.exchange.Told;
import io.sparqr.spark.metrics.SubtreeMetrics;
import io.sparqr.spark.metrics.TaskProfile;
import io.sparqr.spark.metrics.WorkDone;
import io.sparqr.spark.parts.Parts;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.report.SolveReport;
import io.sparqr.spark.stored.KeptFronts;
import io.sparqr.spark.stored.TaskOutput;
import io.sparqr.spark.wire.BlockCodec;
import io.sparqr.spark.wire.Frame;
import io.sparqr.spark.wire.RowBatchCodec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.resource.ResourceProfile;
import org.apache.spark.storage.StorageLevel;
import org.jspecify.annotations.Nullable;
import scala.Tuple2;

/**
 * R by the levels of the task tree, as persisted partitions, each level computed from rows and from
 * the contribution blocks of lower levels by one Spark job, which also writes its own blocks to the
 * shuffle: R alone is stored. The solves with R are in another package.
 */
public final class FactorLevels {

  private final Engine engine;
  private final PlanHandle broadcast;
  private final SolvePlan plan;
  private final @Nullable Making making;
  private final Optional<ResourceProfile> gpus;

  /** The name under which R also stays on devices, if it does. */
  private final @Nullable String resident;

  /** What the tasks do instead of keeping R; null if R is kept. */
  private final @Nullable TaskSolution solution;

  private final List<byte[]> solutions = new ArrayList<>();
  private final List<Parts<TaskOutput>> levels = new ArrayList<>();

  /** By level that passes blocks on. */
  private final Map<Integer, PassedBlocks> passed = new HashMap<>();

  /** What it takes to make a level; existing ones have none of it. */
  private record Making(
      ClusterResources resources,
      Held held,
      Parts<Tuple2<Integer, byte[]>> rows,
      RowParts rowParts,
      SubtreeMetrics metrics,
      Told told,
      @Nullable TaskSolution top) {}

  /**
   * Starts without a level.
   *
   * @param rows shuffled rows
   * @param rowParts the assignment of their partitions to tasks
   * @param profiled whether tasks record the time and place of their work
   * @param solution how tasks solve at once, if the plan has one level and only x is wanted; empty:
   *     they keep R
   * @param top how the tasks of the highest level solve at once and keep R all the same, if they
   *     do; on devices R's first solve is theirs
   */
  public FactorLevels(
      Engine engine,
      PlanHandle broadcast,
      ClusterResources resources,
      Held held,
      Parts<Tuple2<Integer, byte[]>> rows,
      RowParts rowParts,
      boolean profiled,
      Optional<TaskSolution> solution,
      Optional<TaskSolution> top) {
    this.solution = solution.orElse(null);
    this.engine = engine;
    this.broadcast = broadcast;
    this.plan = broadcast.value();
    this.resident = this.solution == null && plan.numbers().devices().use() ? broadcast.id() : null;
    this.making =
        new Making(
            resources,
            held,
            rows,
            rowParts,
            new SubtreeMetrics(engine, profiled),
            Told.of(engine),
            top.orElse(null));
    this.gpus = StageGpus.profile(engine, resources, plan.numbers().devices());
  }

  /**
   * Existing levels, to which none can be added.
   *
   * @param stored the frames of each level, one partition per task
   */
  public FactorLevels(
      JavaSparkContext context, PlanHandle broadcast, List<JavaRDD<byte[]>> stored) {
    this.engine = Engine.of(context);
    this.broadcast = broadcast;
    this.plan = broadcast.value();
    this.making = null;
    this.resident = null;
    this.solution = null;
    this.gpus = Optional.empty();
    stored.forEach(level -> levels.add(read(Parts.of(level))));
  }

  private Making making() {
    if (making == null) {
      throw new IllegalStateException("to existing levels none can be added");
    }
    return making;
  }

  /** The name under which R also stays on devices ({@link ResidentFactors}), if it does. */
  public @Nullable String resident() {
    return resident;
  }

  /** The profiles of the tasks, if requested. */
  public List<TaskProfile> profiles() {
    return making == null ? List.of() : making.metrics.profiles();
  }

  /** The progress of the tasks; not for existing levels. */
  public WorkDone work() {
    return making().metrics.work();
  }

  /**
   * Threads for each task. For existing levels the executors are unknown, and each task has one.
   */
  public int[] threads() {
    int[] threads = new int[plan.partition().tasks().size()];
    Arrays.fill(threads, 1);
    for (int l = 0; making != null && l < plan.partition().levels(); l++) {
      List<SubtreeTask> tasks = plan.partition().level(l);
      int[] own = making.resources.threads(tasks);
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
      List<PassedBlocks> needed = needed(tasks);
      Parts<TaskOutput> made = level(level, needed, storage, what);
      for (List<byte[]> frames : run(level, made)) {
        reports.add(TaskReport.decode(frames.get(0)));
        solutions.addAll(frames.subList(1, frames.size()));
      }
      for (PassedBlocks blocks : needed) {
        blocks.readBy(level);
      }
    }
    return reports;
  }

  /**
   * Runs the tasks of a level. With Spark those that pass blocks on run for these, which they write
   * to the shuffle; what they keep is stored on the way, and what they tell comes with their end.
   *
   * @return by task, its report, and x if it has solved
   */
  private List<List<byte[]>> run(int level, Parts<TaskOutput> made) {
    int first = plan.partition().level(level).get(0).id();
    int count = made.count();
    int wanted = solution == null ? 1 : 2;
    int[] all = IntStream.range(0, count).toArray();
    Optional<PassedBlocks> blocks = Optional.ofNullable(passed.get(level));
    Told told = making().told;
    boolean spark = making().rows.either(rdd -> true, () -> false);
    return TaskRefusal.lookingFor(
        engine,
        first,
        () -> {
          if (blocks.isPresent() && spark) {
            blocks.get().write();
          }
          return told.take(first, count)
              .orElseGet(
                  () -> {
                    List<List<byte[]>> frames =
                        SparkErrors.unwrap(
                            () -> made.map((p, it) -> first(wanted, it)).collect(all));
                    blocks.ifPresent(PassedBlocks::write);
                    return told.take(first, count).orElse(frames);
                  });
        });
  }

  /** The first frames of a task's content. */
  private static Iterator<byte[]> first(int count, Iterator<TaskOutput> content) {
    var frames = new ArrayList<byte[]>();
    while (frames.size() < count
        && content.hasNext()
        && content.next() instanceof TaskOutput.Framed first) {
      frames.add(first.frame());
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

  /**
   * x of every task of the highest level, if these have solved and kept R all the same; once, then
   * empty.
   */
  public List<byte[]> takeTop() {
    if (solved()) {
      return List.of();
    }
    List<byte[]> top = List.copyOf(solutions);
    solutions.clear();
    return top.size() == plan.partition().level(plan.partition().levels() - 1).size()
        ? top
        : List.of();
  }

  /** R of a level, stored when its tasks have run. */
  private Parts<TaskOutput> level(
      int level, List<PassedBlocks> needed, StorageLevel storage, String what) {
    List<SubtreeTask> tasks = plan.partition().level(level);
    String name = "sparqr R, " + what;
    boolean framed = framed(storage);
    Made made =
        making()
            .rows
            .either(
                rdd ->
                    onSpark(
                        tasks,
                        needed,
                        rdd,
                        keeping(framed, level + 1 == plan.partition().levels()),
                        factor -> stored(factor, name, storage)),
                () -> here(tasks, needed, name, storage));
    Parts<TaskOutput> kept = made.kept;
    if (resident != null) {
      // Before the level is no longer persisted: where it is tells where R stays.
      making().held.onClose(() -> ResidentRelease.run(engine, broadcast, kept));
    }
    // R that was only on a device may be lost with it: then its task is done again. Frames are not.
    levels.add(resident == null || framed ? kept : kept.mended(KeptFronts::isHere));
    lastReceiver(tasks).ifPresent(last -> passed.put(level, blocks(what, made.passed, last)));
    return kept;
  }

  /**
   * What the tasks of a level make.
   *
   * @param kept what they keep, stored
   * @param passed the blocks that they pass on
   */
  private record Made(Parts<TaskOutput> kept, Parts<byte[]> passed) {}

  /**
   * What tasks keep, stored.
   *
   * @param kept the elements
   * @param persisted the RDD of these elements, or of their frames
   */
  private record Stored(Parts<TaskOutput> kept, RDD<?> persisted) {}

  private Stored stored(Parts<TaskOutput> factor, String name, StorageLevel storage) {
    Held held = making().held;
    if (framed(storage)) {
      Parts<byte[]> frames = factor.map((p, it) -> frames(it)).named(name).persist(storage, held);
      return new Stored(read(frames), frames.rdd().rdd());
    }
    Parts<TaskOutput> kept = factor.named(name).persist(storage, held);
    return new Stored(kept, kept.rdd().rdd());
  }

  private static Parts<TaskOutput> read(Parts<byte[]> frames) {
    return frames.map((p, it) -> TaskOutput.ofFrames(it));
  }

  private static Iterator<byte[]> frames(Iterator<TaskOutput> kept) {
    return KeptFronts.frames(kept, kind -> true);
  }

  /**
   * Frames are needed for a storage level that keeps bytes, and if Kryo accepts only registered
   * classes.
   */
  private boolean framed(StorageLevel storage) {
    return !storage.deserialized()
        || Boolean.parseBoolean(engine.setting("spark.kryo.registrationRequired"));
  }

  private Keeping keeping(boolean framed, boolean top) {
    if (solution != null) {
      return new Keeping.SolutionOnly(solution);
    }
    return resident == null
        ? new Keeping.OnHost(framed, top ? making().top : null)
        : new Keeping.OnDevice(framed, resident);
  }

  private Made onSpark(
      List<SubtreeTask> tasks,
      List<PassedBlocks> needed,
      JavaRDD<Tuple2<Integer, byte[]>> shuffled,
      Keeping keeping,
      Function<Parts<TaskOutput>, Stored> storing) {
    Making making = making();
    var sc = engine.context().sc();
    var run =
        new LevelRdd.Tasks(
            broadcast,
            tasks.get(0).id(),
            making.resources.threads(tasks),
            making.metrics,
            making.rowParts,
            making.told);
    var inputs =
        new LevelRdd.Inputs(
            shuffled.rdd(), needed.stream().map(b -> b.shuffled().rdd().rdd()).toList());
    PlannedPlaces places = making.resources.places(sc, tasks);
    var factor = new FactorRdd(sc, run, inputs, places, keeping);
    Stored stored = storing.apply(Parts.of(factor.toJavaRDD()));
    var blocks = new PassedRdd(sc, run, inputs, places, factor, new StoredLevel(stored.persisted));
    gpus.ifPresent(
        profile -> {
          blocks.withResources(profile);
          factor.withResources(profile);
        });
    return new Made(stored.kept, Parts.of(blocks.toJavaRDD()));
  }

  private Made here(
      List<SubtreeTask> tasks, List<PassedBlocks> needed, String name, StorageLevel storage) {
    Making making = making();
    int[] threads = making.resources.threads(tasks);
    var sources = new ArrayList<>(List.of(making.rows));
    needed.forEach(b -> sources.add(b.shuffled()));
    int first = tasks.get(0).id();
    var level =
        new LevelHere(
            tasks.size(),
            keeping(false, false),
            (i, keeping) ->
                new LevelTask(broadcast, first, i, threads[i], keeping, making.metrics)
                    .run(null, sources.size(), k -> sources.get(k).partition(first + i)));
    return new Made(level.kept().named(name).persist(storage, making.held), level.passed());
  }

  /** The blocks of those lower levels that are needed by a task of this level. */
  private List<PassedBlocks> needed(List<SubtreeTask> tasks) {
    var from = new TreeSet<Integer>();
    for (SubtreeTask t : tasks) {
      for (int f : t.inputs()) {
        from.add(levelOf(f));
      }
    }
    return from.stream().map(passed::get).filter(Objects::nonNull).toList();
  }

  /** The highest level that receives a block of these tasks, if any does. */
  private OptionalInt lastReceiver(List<SubtreeTask> tasks) {
    return tasks.stream()
        .flatMapToInt(t -> Arrays.stream(t.outputs()))
        .map(f -> plan.analysis().parent(f))
        .filter(parent -> parent >= 0)
        .map(this::levelOf)
        .max();
  }

  private int levelOf(int front) {
    return plan.partition().tasks().get(plan.taskOf(front)).level();
  }

  /**
   * The blocks that a level's tasks pass on, to be shuffled.
   *
   * @param what the name of the level, and so of the stage in which its tasks run for them
   */
  private PassedBlocks blocks(String what, Parts<byte[]> made, int lastReceiver) {
    return JobScope.named(
        engine,
        what,
        () -> {
          PlanHandle b = broadcast;
          Parts<Tuple2<Integer, byte[]>> shuffled =
              made.shuffle(
                  Math.max(1, plan.partition().tasks().size()),
                  (p, frames) -> byReceiver(b.value(), frames));
          return new PassedBlocks(engine, what, shuffled, lastReceiver);
        });
  }

  private static Iterator<Tuple2<Integer, byte[]>> byReceiver(
      SolvePlan plan, Iterator<byte[]> frames) {
    var out = new ArrayList<Tuple2<Integer, byte[]>>();
    while (frames.hasNext()) {
      byte[] frame = frames.next();
      int front =
          Frame.kind(frame) == Frame.Kind.BLOCK
              ? plan.analysis().parent(BlockCodec.front(frame))
              : RowBatchCodec.firstFront(frame);
      out.add(new Tuple2<>(plan.taskOf(front), frame));
    }
    return out.iterator();
  }

  /**
   * The stored content of a level, one partition per task.
   *
   * @throws IllegalStateException without Spark
   */
  public JavaRDD<TaskOutput> level(int l) {
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
  public Parts<TaskOutput> parts(int l) {
    if (solved()) {
      throw new IllegalStateException("R was not kept: only the solution was asked for");
    }
    return levels.get(l);
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
