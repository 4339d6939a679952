/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factor;

import io.sparqr.partition.SubtreeTask;
import io.sparqr.spark.metrics.SubtreeMetrics;
import io.sparqr.spark.plan.PlanHandle;
import io.sparqr.spark.resource.TaskHeap;
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
import scala.Tuple2;

/**
 * A task of a level, on Spark or without it: its rows, and the blocks of each lower level that it
 * takes, to what {@link SubtreeRun#run} makes.
 *
 * @param first task of the level
 * @param index of the task in the level
 * @param threads that it may use
 * @param framed whether R is wanted as frames
 */
record LevelTask(
    PlanHandle plan, int first, int index, int threads, boolean framed, SubtreeMetrics metrics) {

  /**
   * Factors.
   *
   * @param context Spark's; null without Spark
   * @param sources how many there are: the rows, then lower levels
   * @param source the task's elements of each, pairs of key and frame
   */
  Iterator<Object> run(
      TaskContext context, int sources, IntFunction<? extends Iterator<?>> source) {
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

  private Iterator<Object> factor(int sources, IntFunction<? extends Iterator<?>> source) {
    var rows = new ArrayList<byte[]>();
    frames(source.apply(0)).forEach(rows::add);
    ChangeCodec.refuse(rows);
    // Blocks are decoded as they come, one frame at a time.
    var blocks =
        IntStream.range(1, sources).boxed().flatMap(k -> frames(source.apply(k))).iterator();
    return new SubtreeRun(plan.value(), first + index, threads, framed, metrics).run(rows, blocks);
  }

  private static Stream<byte[]> frames(Iterator<?> pairs) {
    return StreamSupport.stream(
            Spliterators.spliteratorUnknownSize(pairs, Spliterator.ORDERED), false)
        .map(pair -> (byte[]) ((Tuple2<?, ?>) pair)._2());
  }
}
