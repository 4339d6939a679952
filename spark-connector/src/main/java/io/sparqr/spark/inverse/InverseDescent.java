/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.inverse;

import io.sparqr.partition.SubtreeTask;
import io.sparqr.spark.factor.Levels;
import io.sparqr.spark.plan.PlanHandle;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.resource.Held;
import io.sparqr.spark.resource.JobScope;
import io.sparqr.spark.resource.KeyPartitioner;
import io.sparqr.spark.resource.SparkErrors;
import io.sparqr.spark.solve.LevelSolve;
import io.sparqr.spark.solve.TaskInput;
import io.sparqr.spark.wire.BlockCodec;
import io.sparqr.spark.wire.Frame;
import io.sparqr.spark.wire.VectorCodec;
import io.sparqr.spark.wire.VectorCodec.Sparse;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.storage.StorageLevel;
import scala.Tuple2;

/**
 * Norms of R^-1's rows over the levels: one Spark job a level, from the root down; the inverse's
 * factors on the tails of a level's subtrees come by shuffle from the levels above.
 */
public final class InverseDescent implements InverseNorms.Tree {

  private final JavaSparkContext context;
  private final PlanHandle broadcast;
  private final SolvePlan plan;
  private final Levels levels;
  private final LevelSolve solve;
  private final JobScope scope;

  /** Over the levels of a factorization, in a job scope of the caller's. */
  public InverseDescent(
      JavaSparkContext context, PlanHandle broadcast, Levels levels, JobScope scope) {
    this.context = context;
    this.broadcast = broadcast;
    this.plan = broadcast.value();
    this.levels = levels;
    this.solve = new LevelSolve(context, broadcast, levels);
    this.scope = scope;
  }

  @Override
  public void descend(List<byte[]> asked, double[] norm) {
    List<JavaRDD<byte[]>> above = new ArrayList<>();
    PlanHandle b = broadcast;
    try (var held = new Held()) {
      for (int l = levels.count() - 1; l >= 0; l--) {
        scope.describe("standard errors, level " + (l + 1) + " of " + levels.count());
        List<SubtreeTask> tasks = plan.partition().level(l);
        int first = tasks.get(0).id();
        var questions = new TaskInput(context, held, asked.subList(first, first + tasks.size()));
        JavaRDD<byte[]> level =
            levels
                .level(l)
                .zipPartitions(
                    questions.rdd().zipPartitions(blocks(tasks, above), InverseDescent::joined),
                    (frames, in) ->
                        SubtreeInverse.run(b.value(), frames, questions.frame(in.next()), in)
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
      }
    }
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

  /** What the levels above have for these tasks, partition i for task i of the level. */
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
    return JavaPairRDD.fromJavaRDD(keyed).partitionBy(new KeyPartitioner(count)).values();
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
