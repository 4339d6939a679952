/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factor;

import io.sparqr.partition.SubtreeTask;
import io.sparqr.spark.metrics.SubtreeMetrics;
import io.sparqr.spark.plan.PlanHandle;
import io.sparqr.spark.resource.PlannedPlaces;
import io.sparqr.spark.resource.TaskHeap;
import io.sparqr.spark.wire.ChangeCodec;
import java.util.ArrayList;
import java.util.List;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.apache.spark.Dependency;
import org.apache.spark.Partition;
import org.apache.spark.SparkContext;
import org.apache.spark.TaskContext;
import org.apache.spark.rdd.RDD;
import scala.Tuple2;
import scala.collection.Iterator;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag$;

/**
 * The tasks of one level: partition i factors task first + i from that task's partition of the rows
 * and of each lower level's blocks, and holds the frames of {@link SubtreeRun#run}.
 */
final class LevelRdd extends RDD<byte[]> {

  private static final long serialVersionUID = 1;

  private final PlanHandle plan;
  private final int first;
  private final int[] threads;
  private final SubtreeMetrics metrics;

  /** The driver's alone. */
  private final transient PlannedPlaces places;

  /**
   * A level.
   *
   * @param threads of each task
   * @param places where each task should run
   * @param metrics what the tasks count
   * @param rows shuffled rows, partition = task
   * @param blocks shuffled blocks of lower levels, partition = task
   */
  LevelRdd(
      SparkContext context,
      PlanHandle plan,
      int first,
      int[] threads,
      PlannedPlaces places,
      SubtreeMetrics metrics,
      RDD<Tuple2<Integer, byte[]>> rows,
      List<RDD<Tuple2<Integer, byte[]>>> blocks) {
    super(context, dependencies(first, rows, blocks), ClassTag$.MODULE$.apply(byte[].class));
    this.plan = plan;
    this.first = first;
    this.threads = threads;
    this.places = places;
    this.metrics = metrics;
  }

  private static Seq<Dependency<?>> dependencies(
      int first, RDD<Tuple2<Integer, byte[]>> rows, List<RDD<Tuple2<Integer, byte[]>>> blocks) {
    var list = new ArrayList<Dependency<?>>();
    list.add(new FromTask(rows, first));
    for (var b : blocks) {
      list.add(new FromTask(b, first));
    }
    return CollectionConverters.asScala(list).toSeq();
  }

  @Override
  public Partition[] getPartitions() {
    var all = new Partition[threads.length];
    for (int i = 0; i < all.length; i++) {
      all[i] = new Index(i);
    }
    return all;
  }

  /** Hints: see {@link PlannedPlaces}. */
  @Override
  public Seq<String> getPreferredLocations(Partition split) {
    return CollectionConverters.asScala(places.of(split.index())).toSeq();
  }

  @Override
  public Iterator<byte[]> compute(Partition split, TaskContext context) {
    SubtreeTask task = plan.value().partition().tasks().get(first + split.index());
    return CollectionConverters.asScala(
        TaskRefusal.guarded(
            task,
            first,
            context,
            () -> {
              TaskHeap.take(context, task.hostBytes());
              return factor(split, context);
            }));
  }

  private java.util.Iterator<byte[]> factor(Partition split, TaskContext context) {
    var rows = new ArrayList<byte[]>();
    Seq<Dependency<?>> parents = dependencies();
    int task = first + split.index();
    frames(parents.apply(0).rdd(), task, context).forEachRemaining(rows::add);
    ChangeCodec.refuse(rows);
    // Blocks are decoded as they come, one frame at a time.
    var blocks =
        IntStream.range(1, parents.size())
            .boxed()
            .flatMap(k -> stream(frames(parents.apply(k).rdd(), task, context)))
            .iterator();
    var run = new SubtreeRun(plan.value(), task, threads[split.index()], metrics);
    return run.run(rows, blocks);
  }

  private static Stream<byte[]> stream(java.util.Iterator<byte[]> frames) {
    return StreamSupport.stream(
        Spliterators.spliteratorUnknownSize(frames, Spliterator.ORDERED), false);
  }

  private static java.util.Iterator<byte[]> frames(RDD<?> parent, int task, TaskContext context) {
    Iterator<?> it = parent.iterator(parent.partitions()[task], context);
    return new java.util.Iterator<>() {
      @Override
      public boolean hasNext() {
        return it.hasNext();
      }

      @Override
      public byte[] next() {
        return (byte[]) ((Tuple2<?, ?>) it.next())._2();
      }
    };
  }

  private record Index(int index) implements Partition {
    @Override
    public int hashCode() {
      return index;
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Index i && i.index == index;
    }
  }
}
