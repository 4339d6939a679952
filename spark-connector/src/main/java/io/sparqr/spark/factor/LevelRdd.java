/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factor;

import io.sparqr.spark.engine.Numbered;
import io.sparqr.spark.engine.PlannedPlaces;
import io.sparqr.spark.exchange.PlanHandle;
import io.sparqr.spark.exchange.Told;
import io.sparqr.spark.internals.QuietRdd;
import io.sparqr.spark.metrics.SubtreeMetrics;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.Dependency;
import org.apache.spark.Partition;
import org.apache.spark.SparkContext;
import org.apache.spark.TaskContext;
import org.apache.spark.rdd.RDD;
import scala.Tuple2;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag$;

/**
 * What the tasks of one level make: partition i factors task first + i from that task's partition
 * of the rows and of each lower level's blocks. A task makes two things, which are stored under two
 * RDDs, because they are needed for different times: {@link FactorRdd} and {@link PassedRdd}. They
 * are RDDs of our own because they have any number of parents, of which they take some partitions
 * only, and places.
 *
 * @param <T> element
 */
abstract sealed class LevelRdd<T> extends QuietRdd<T> permits FactorRdd, PassedRdd {

  private static final long serialVersionUID = 1;

  private final Tasks tasks;

  /** Number of the inputs, the first of the dependencies. */
  private final int sources;

  /** Used on the driver only. */
  private final transient PlannedPlaces places;

  /**
   * The tasks of a level.
   *
   * @param first the first one
   * @param threads for each task
   * @param metrics counters for the tasks
   * @param rowParts the assignment of partitions of the rows to tasks
   * @param told takes what the driver is to know at once
   */
  record Tasks(
      PlanHandle plan,
      int first,
      int[] threads,
      SubtreeMetrics metrics,
      RowParts rowParts,
      Told told)
      implements Serializable {}

  /**
   * What the tasks of a level start from.
   *
   * @param rows shuffled rows
   * @param blocks shuffled blocks of lower levels, partition = task
   */
  record Inputs(RDD<Tuple2<Integer, byte[]>> rows, List<RDD<Tuple2<Integer, byte[]>>> blocks) {
    private Seq<Dependency<?>> dependencies(Tasks tasks, Dependency<?>... further) {
      var list = new ArrayList<Dependency<?>>();
      list.add(new FromTask(rows, tasks.first, tasks.rowParts.each()));
      for (var b : blocks) {
        list.add(new FromTask(b, tasks.first));
      }
      list.addAll(List.of(further));
      return CollectionConverters.asScala(list).toSeq();
    }
  }

  /**
   * @param places preferred place of each task
   * @param element class of the elements
   * @param further dependencies beside the inputs
   */
  LevelRdd(
      SparkContext context,
      Tasks tasks,
      Inputs inputs,
      PlannedPlaces places,
      Class<T> element,
      Dependency<?>... further) {
    super(context, inputs.dependencies(tasks, further), ClassTag$.MODULE$.apply(element));
    this.tasks = tasks;
    this.sources = 1 + inputs.blocks.size();
    this.places = places;
  }

  @Override
  public Partition[] getPartitions() {
    return Numbered.all(tasks.threads.length);
  }

  /** Only hints: see {@link PlannedPlaces}. */
  @Override
  public Seq<String> getPreferredLocations(Partition split) {
    return CollectionConverters.asScala(places.of(split.index())).toSeq();
  }

  /** Whether nothing of the task can be stored yet, which spares a question to the driver. */
  final boolean isFirstRun(TaskContext context) {
    return TaskRefusal.isFirstRun(context, tasks.first);
  }

  /** Runs the task of a partition. */
  final TaskResult run(Partition split, TaskContext context, Keeping keeping) {
    int threads = tasks.threads[split.index()];
    int task = tasks.first + split.index();
    var work =
        new LevelTask(tasks.plan, tasks.first, split.index(), threads, keeping, tasks.metrics);
    Seq<Dependency<?>> parents = dependencies();
    TaskResult result =
        work.run(
            context,
            sources,
            k -> {
              RDD<?> parent = parents.apply(k).rdd();
              if (k == 0) {
                return tasks.rowParts.read(parent, task, context, threads);
              }
              return CollectionConverters.asJava(
                  parent.iterator(parent.partitions()[task], context));
            });
    if (!(keeping instanceof Keeping.Nothing)) {
      tasks.told.tell(task, result.told());
    }
    return result;
  }
}
