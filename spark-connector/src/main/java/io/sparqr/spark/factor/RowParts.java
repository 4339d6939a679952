/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factor;

import io.sparqr.spark.cluster.ClusterResources;
import io.sparqr.spark.engine.SparkErrors;
import io.sparqr.spark.internals.RunningTask;
import io.sparqr.spark.parts.Parts;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.threads.Parallel;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.spark.Partition;
import org.apache.spark.TaskContext;
import org.apache.spark.rdd.RDD;
import scala.Tuple2;

/**
 * The partitions for a task's rows in the shuffle. A task with several threads has several, because
 * Spark fetches, decompresses and deserializes each on a single thread.
 *
 * @param tasks number of tasks of the plan; the partition after theirs is the driver's share
 * @param each partitions per task
 */
public record RowParts(int tasks, int each) implements Serializable {

  /**
   * Approximate maximum number of partitions, because every partition of the input has a piece for
   * each.
   */
  private static final int MOST = 64;

  /**
   * Maximum per task if rows come over the network: each can have up to {@code
   * spark.reducer.maxSizeInFlight} in flight.
   */
  private static final int MOST_REMOTE = 4;

  /**
   * As many per task as the largest number of threads of a task, if there are few tasks and the
   * rows' shuffled elements are read by those threads.
   *
   * @param rows that are to be shuffled
   */
  public static RowParts of(SolvePlan plan, ClusterResources resources, Parts<?> rows) {
    int threads = 1;
    for (int l = 0; l < plan.partition().levels(); l++) {
      for (int t : resources.threads(plan.partition().level(l))) {
        threads = Math.max(threads, t);
      }
    }
    int most = rows.readers(resources.local() ? threads : Math.min(threads, MOST_REMOTE));
    int tasks = plan.driverKey();
    return new RowParts(tasks, Math.max(1, Math.min(most, MOST / (tasks + 1))));
  }

  /** Partitions of all tasks, and one for the driver's share. */
  public int count() {
    return tasks * each + 1;
  }

  /** The partition with the driver's share. */
  public int driver() {
    return tasks * each;
  }

  /** The first partition of a task. */
  int first(int task) {
    return task * each;
  }

  /** Replaces the task in the keys of an input partition's elements by a partition of that task. */
  public Iterator<Tuple2<Integer, byte[]>> keyed(
      int partition, Iterator<Tuple2<Integer, byte[]>> byTask) {
    if (each == 1) {
      return byTask;
    }
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        return byTask.hasNext();
      }

      @Override
      public Tuple2<Integer, byte[]> next() {
        Tuple2<Integer, byte[]> t = byTask.next();
        return new Tuple2<>(t._1() == tasks ? driver() : first(t._1()) + partition % each, t._2());
      }
    };
  }

  /**
   * A task's elements, read from its partitions in parallel, in the order of the partitions.
   *
   * @param threads threads for the task
   */
  Iterator<?> read(RDD<?> rows, int task, TaskContext context, int threads) {
    Partition[] all = rows.partitions();
    if (each == 1) {
      return read(rows, all[first(task)], context).iterator();
    }
    var found = new ArrayList<List<Object>>(Collections.nCopies(each, null));
    var failure = new AtomicReference<Throwable>();
    ClassLoader classes = Thread.currentThread().getContextClassLoader();
    Parallel.loop(
        each,
        1,
        threads,
        (k, next, thread) -> {
          // Spark's readers look up the task through the current thread.
          TaskContext before = TaskContext.get();
          ClassLoader own = Thread.currentThread().getContextClassLoader();
          RunningTask.set(context);
          Thread.currentThread().setContextClassLoader(classes);
          try {
            if (failure.get() == null) {
              found.set(k, read(rows, all[first(task) + k], context));
            }
          } catch (Throwable e) {
            // Lost shuffle output is a checked exception, to be handled by Spark.
            failure.compareAndSet(null, e);
          } finally {
            Thread.currentThread().setContextClassLoader(own);
            RunningTask.set(before);
          }
        });
    if (failure.get() != null) {
      throw SparkErrors.<RuntimeException>sneaky(failure.get());
    }
    return found.stream().flatMap(List::stream).iterator();
  }

  private static List<Object> read(RDD<?> rows, Partition partition, TaskContext context) {
    var list = new ArrayList<Object>();
    scala.collection.Iterator<?> it = rows.iterator(partition, context);
    while (it.hasNext()) {
      list.add(it.next());
    }
    return list;
  }
}
