/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factor;

import io.sparqr.partition.SubtreeTask;
import io.sparqr.spark.engine.TaskHeap;
import io.sparqr.spark.exchange.PlanHandle;
import io.sparqr.spark.metrics.SubtreeMetrics;
import io.sparqr.spark.wire.ChangeCodec;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.apache.spark.TaskContext;
import org.jspecify.annotations.Nullable;
import scala.Tuple2;

/**
 * A task of a level, on Spark or without it: turns its rows, and the blocks it needs from each
 * lower level, into the results of {@link SubtreeRun#run}.
 *
 * @param first first task of the level
 * @param index index of the task in the level
 * @param threads threads for the task
 * @param keeping what is left of the factorization
 */
record LevelTask(
    PlanHandle plan, int first, int index, int threads, Keeping keeping, SubtreeMetrics metrics) {

  /**
   * Factors the subtree.
   *
   * @param context Spark's task context, or none without Spark
   * @param sources number of sources: the rows, then lower levels
   * @param source the task's elements from each source, pairs of key and frame
   */
  TaskResult run(
      @Nullable TaskContext context, int sources, IntFunction<? extends Iterator<?>> source) {
    SubtreeTask task = plan.value().partition().tasks().get(first + index);
    return TaskRefusal.guarded(
        task,
        first,
        context,
        () -> {
          if (context != null) {
            TaskHeap.take(context, task.hostBytes());
          }
          return factor(sources, source);
        });
  }

  private TaskResult factor(int sources, IntFunction<? extends Iterator<?>> source) {
    var rows = new ArrayList<byte[]>();
    frames(source.apply(0)).forEach(rows::add);
    ChangeCodec.refuse(rows);
    // Blocks are decoded on arrival, one frame at a time.
    var blocks =
        IntStream.range(1, sources).boxed().flatMap(k -> frames(source.apply(k))).iterator();
    return new SubtreeRun(plan.value(), first + index, threads, keeping, metrics).run(rows, blocks);
  }

  private static Stream<byte[]> frames(Iterator<?> pairs) {
    return StreamSupport.stream(
            Spliterators.spliteratorUnknownSize(pairs, Spliterator.ORDERED), false)
        .map(pair -> (byte[]) ((Tuple2<?, ?>) pair)._2());
  }
}
