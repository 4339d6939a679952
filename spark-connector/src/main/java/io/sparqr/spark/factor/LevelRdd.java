/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factor;

import io.sparqr.spark.engine.Numbered;
import io.sparqr.spark.engine.PlannedPlaces;
import io.sparqr.spark.metrics.SubtreeMetrics;
import io.sparqr.spark.plan.PlanHandle;
import java.util.ArrayList;
import java.util.List;
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
 * and of each lower level's blocks, and holds the results of {@link SubtreeRun#run}. An RDD of its
 * own because it has any number of parents, of which it takes some partitions only, and places.
 */
final class LevelRdd extends RDD<Object> {

  private static final long serialVersionUID = 1;

  private final PlanHandle plan;
  private final int first;
  private final int[] threads;
  private final Keeping keeping;
  private final RowParts rowParts;
  private final SubtreeMetrics metrics;

  /** Used on the driver only. */
  private final transient PlannedPlaces places;

  /**
   * @param threads for each task
   * @param keeping what is left of the factorization
   * @param places preferred place of each task
   * @param metrics counters for the tasks
   * @param rowParts the assignment of partitions of the rows to tasks
   * @param rows shuffled rows
   * @param blocks shuffled blocks of lower levels, partition = task
   */
  LevelRdd(
      SparkContext context,
      PlanHandle plan,
      int first,
      int[] threads,
      Keeping keeping,
      PlannedPlaces places,
      SubtreeMetrics metrics,
      RowParts rowParts,
      RDD<Tuple2<Integer, byte[]>> rows,
      List<RDD<Tuple2<Integer, byte[]>>> blocks) {
    super(
        context,
        dependencies(first, rowParts, rows, blocks),
        ClassTag$.MODULE$.apply(Object.class));
    this.plan = plan;
    this.first = first;
    this.threads = threads;
    this.keeping = keeping;
    this.rowParts = rowParts;
    this.places = places;
    this.metrics = metrics;
  }

  private static Seq<Dependency<?>> dependencies(
      int first,
      RowParts parts,
      RDD<Tuple2<Integer, byte[]>> rows,
      List<RDD<Tuple2<Integer, byte[]>>> blocks) {
    var list = new ArrayList<Dependency<?>>();
    list.add(new FromTask(rows, first, parts.each()));
    for (var b : blocks) {
      list.add(new FromTask(b, first));
    }
    return CollectionConverters.asScala(list).toSeq();
  }

  @Override
  public Partition[] getPartitions() {
    return Numbered.all(threads.length);
  }

  /** Only hints: see {@link PlannedPlaces}. */
  @Override
  public Seq<String> getPreferredLocations(Partition split) {
    return CollectionConverters.asScala(places.of(split.index())).toSeq();
  }

  @Override
  public Iterator<Object> compute(Partition split, TaskContext context) {
    var work = new LevelTask(plan, first, split.index(), threads[split.index()], keeping, metrics);
    int task = first + split.index();
    Seq<Dependency<?>> parents = dependencies();
    return CollectionConverters.asScala(
        work.run(
            context,
            parents.size(),
            k -> {
              RDD<?> parent = parents.apply(k).rdd();
              if (k == 0) {
                return rowParts.read(parent, task, context, threads[split.index()]);
              }
              return CollectionConverters.asJava(
                  parent.iterator(parent.partitions()[task], context));
            }));
  }
}
