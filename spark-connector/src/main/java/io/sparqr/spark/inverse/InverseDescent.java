/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.inverse;

import io.sparqr.partition.SubtreeTask;
import io.sparqr.spark.engine.Held;
import io.sparqr.spark.engine.JobScope;
import io.sparqr.spark.engine.SparkErrors;
import io.sparqr.spark.exchange.PlanHandle;
import io.sparqr.spark.factor.FactorLevels;
import io.sparqr.spark.factor.TaskSlice;
import io.sparqr.spark.parts.ShuffledFrames;
import io.sparqr.spark.parts.TaskInput;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.rows.LeverageRouter;
import io.sparqr.spark.rows.RowSource;
import io.sparqr.spark.solve.LevelSolve;
import io.sparqr.spark.wire.BlockCodec;
import io.sparqr.spark.wire.Frame;
import io.sparqr.spark.wire.LeverageCodec;
import io.sparqr.spark.wire.VectorCodec;
import io.sparqr.spark.wire.VectorCodec.Sparse;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.storage.StorageLevel;
import org.jspecify.annotations.Nullable;
import scala.Tuple2;

/**
 * Norms of R^-1's rows over the levels: one Spark job per level, from the root down; the inverse's
 * factors on the tails of a level's subtrees are shuffled from the levels above.
 */
public final class InverseDescent implements InverseNorms.Tree {

  private final JavaSparkContext context;
  private final PlanHandle broadcast;
  private final SolvePlan plan;
  private final FactorLevels levels;
  private final LevelSolve solve;
  private final JobScope scope;
  private final Optional<Observations> observations;
  private final Optional<Wanted> wanted;
  private @Nullable JavaRDD<double[]> leverages;
  private @Nullable JavaRDD<byte[]> strips;

  /**
   * The rows for which leverages are computed.
   *
   * @param source the factorized rows
   * @param held releases the leverages
   */
  public record Observations(RowSource source, Held held) {}

  /**
   * A front of which (R'R)^-1 is kept.
   *
   * @param held releases it
   */
  public record Wanted(KeptFront front, Held held) {}

  /**
   * Over the levels of a factorization, in the caller's job scope.
   *
   * @param observations rows for which the descent also computes the leverages
   * @param wanted a front of which it keeps (R'R)^-1
   */
  public InverseDescent(
      JavaSparkContext context,
      PlanHandle broadcast,
      FactorLevels levels,
      Optional<Observations> observations,
      Optional<Wanted> wanted,
      JobScope scope) {
    this.observations = observations;
    this.wanted = wanted;
    this.context = context;
    this.broadcast = broadcast;
    this.plan = broadcast.value();
    this.levels = levels;
    this.solve = new LevelSolve(broadcast, levels);
    this.scope = scope;
  }

  @Override
  public void descend(List<byte[]> asked, double[] norm) {
    List<JavaRDD<byte[]>> above = new ArrayList<>();
    PlanHandle b = broadcast;
    int[] threads = levels.threads();
    KeptFront front = wanted.map(Wanted::front).orElse(null);
    JavaPairRDD<Integer, byte[]> rows = observations.map(this::route).orElse(null);
    try (var held = new Held()) {
      for (int l = levels.count() - 1; l >= 0; l--) {
        scope.describe("standard errors, level " + (l + 1) + " of " + levels.count());
        List<SubtreeTask> tasks = plan.partition().level(l);
        int first = tasks.get(0).id();
        var questions =
            new TaskInput(context, lasting(held), asked.subList(first, first + tasks.size()));
        JavaRDD<byte[]> given =
            questions.rdd().zipPartitions(blocks(tasks, above), InverseDescent::joined);
        if (rows != null) {
          given =
              given.zipPartitions(TaskSlice.of(rows, first, tasks.size()), InverseDescent::joined);
        }
        JavaRDD<byte[]> level =
            levels
                .level(l)
                .zipPartitions(
                    given,
                    (kept, in) ->
                        SubtreeInverse.run(
                                b.value(), kept, questions.frame(in.next()), in, front, threads)
                            .iterator());
        held.persist(level, StorageLevel.MEMORY_AND_DISK());
        above.add(level);
        JavaRDD<byte[]> pieces = level.filter(f -> Frame.kind(f) == Frame.Kind.SPARSE);
        for (byte[] frame : SparkErrors.unwrap(pieces::collect)) {
          Sparse piece = VectorCodec.decodeSparse(frame);
          for (int i = 0; i < piece.position().length; i++) {
            norm[piece.position()[i]] = piece.value()[i];
          }
        }
        if (front != null
            && plan.partition().tasks().get(plan.taskOf(front.front())).level() == l) {
          strips = keep(level, wanted.get().held());
        }
      }
      if (rows != null) {
        above.add(TaskSlice.of(rows, plan.driverKey(), 1));
        leverages = leverages(above);
      }
    }
  }

  /** What the tasks' inputs live with: whatever may be computed again after the descent. */
  private Held lasting(Held descent) {
    return observations.map(Observations::held).or(() -> wanted.map(Wanted::held)).orElse(descent);
  }

  private static JavaRDD<byte[]> keep(JavaRDD<byte[]> level, Held held) {
    JavaRDD<byte[]> strips = level.filter(f -> Frame.kind(f) == Frame.Kind.INVERSE);
    held.persist(strips, StorageLevel.MEMORY_AND_DISK());
    SparkErrors.unwrap(strips::count);
    return strips;
  }

  private JavaPairRDD<Integer, byte[]> route(Observations observed) {
    PlanHandle b = broadcast;
    JavaRDD<Tuple2<Integer, byte[]>> routed =
        JobScope.named(
            context,
            "leverages, rows to the tasks of their fronts",
            () ->
                observed
                    .source
                    .rows()
                    .mapPartitionsWithIndex(
                        (p, rows) -> new LeverageRouter(b.value(), p, rows), false));
    return ShuffledFrames.of(routed, plan.driverKey() + 1);
  }

  /** Shuffles the levels' leverages back to the partitions of the rows, and computes them. */
  private JavaRDD<double[]> leverages(List<JavaRDD<byte[]>> found) {
    JavaRDD<byte[]> all = found.get(0);
    for (int k = 1; k < found.size(); k++) {
      all = all.union(found.get(k));
    }
    JavaRDD<byte[]> frames = all;
    PlanHandle b = broadcast;
    scope.describe("leverages, back to the partitions of their rows");
    int partitions = observations.get().source.rows().getNumPartitions();
    JavaPairRDD<Integer, byte[]> back =
        ShuffledFrames.of(frames.mapPartitions(InverseDescent::byPartition), partitions);
    JavaRDD<double[]> values =
        back.values().mapPartitionsWithIndex((p, in) -> merge(b.value(), p, in), true);
    observations.get().held.persist(values, StorageLevel.MEMORY_AND_DISK());
    SparkErrors.unwrap(values::count);
    return values;
  }

  private static Iterator<Tuple2<Integer, byte[]>> byPartition(Iterator<byte[]> frames) {
    var out = new ArrayList<Tuple2<Integer, byte[]>>();
    while (frames.hasNext()) {
      byte[] frame = frames.next();
      if (Frame.kind(frame) == Frame.Kind.LEVERAGE) {
        out.add(new Tuple2<>(LeverageCodec.partition(frame), frame));
      }
    }
    return out.iterator();
  }

  private static Iterator<double[]> merge(SolvePlan plan, int partition, Iterator<byte[]> frames) {
    double[] values = new double[Math.toIntExact(plan.readings().of(partition).rows())];
    Arrays.fill(values, Double.NaN);
    while (frames.hasNext()) {
      LeverageCodec.decode(frames.next(), values);
    }
    for (int i = 0; i < values.length; i++) {
      if (Double.isNaN(values[i])) {
        throw new IllegalStateException(
            "no leverage came of row " + i + " of partition " + partition);
      }
    }
    return List.of(values).iterator();
  }

  /**
   * After the descent: one element per partition of the rows, the leverages of its rows of positive
   * weight, in order.
   */
  public JavaRDD<double[]> leverages() {
    return Objects.requireNonNull(leverages);
  }

  /** After the descent: frames of {@link io.sparqr.spark.wire.InverseCodec} of the wanted front. */
  public JavaRDD<byte[]> strips() {
    return Objects.requireNonNull(strips);
  }

  private static Iterator<byte[]> joined(Iterator<byte[]> question, Iterator<byte[]> blocks) {
    var all = new ArrayList<byte[]>();
    question.forEachRemaining(all::add);
    blocks.forEachRemaining(all::add);
    return all.iterator();
  }

  @Override
  public void forward(double[] c, int width) {
    solve.forward(c, width, scope);
  }

  /**
   * The inverse's factors from the levels above for these tasks, partition i for task i of the
   * level.
   */
  private JavaRDD<byte[]> blocks(List<SubtreeTask> tasks, List<JavaRDD<byte[]>> above) {
    int first = tasks.get(0).id();
    int count = tasks.size();
    if (above.isEmpty() || tasks.stream().allMatch(t -> t.outputs().length == 0)) {
      return context.parallelize(List.<byte[]>of(), count);
    }
    JavaRDD<byte[]> all = above.get(0);
    for (int k = 1; k < above.size(); k++) {
      all = all.union(above.get(k));
    }
    PlanHandle b = broadcast;
    JavaRDD<byte[]> blocks = all;
    JavaRDD<Tuple2<Integer, byte[]>> keyed =
        JobScope.named(
            context,
            "standard errors, blocks of R^-1 to their children",
            () -> blocks.mapPartitions(it -> keyed(b.value(), it, first, count)));
    return ShuffledFrames.of(keyed, count).values();
  }

  private static Iterator<Tuple2<Integer, byte[]>> keyed(
      SolvePlan plan, Iterator<byte[]> frames, int first, int count) {
    var out = new ArrayList<Tuple2<Integer, byte[]>>();
    while (frames.hasNext()) {
      byte[] frame = frames.next();
      if (Frame.kind(frame) == Frame.Kind.BLOCK) {
        int task = plan.taskOf(BlockCodec.front(frame)) - first;
        if (task >= 0 && task < count) {
          out.add(new Tuple2<>(task, frame));
        }
      }
    }
    return out.iterator();
  }
}
