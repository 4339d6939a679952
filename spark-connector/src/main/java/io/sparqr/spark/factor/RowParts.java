/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factor;

import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.resource.ClusterResources;
import io.sparqr.spark.resource.SparkErrors;
import io.sparqr.threads.Parallel;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.spark.Partition;
import org.apache.spark.TaskContext;
import org.apache.spark.TaskContext$;
import org.apache.spark.rdd.RDD;
import scala.Tuple2;

/**
 * Which partitions a task's rows are shuffled to: several of them where it has several threads,
 * since what Spark does to bring one (fetching, decompressing, deserializing) it does on one.
 *
 * @param tasks of the plan; the driver's share is one partition behind theirs
 * @param each partitions a task
 */
public record RowParts(int tasks, int each) implements Serializable {

  /** Partitions at most, about: every partition of the input has a piece for each. */
  private static final int MOST = 64;

  /**
   * And of a task where they come by the network: each has up to {@code
   * spark.reducer.maxSizeInFlight} under way.
   */
  private static final int MOST_REMOTE = 4;

  /** A partition a task. */
  public static RowParts one(SolvePlan plan) {
    return new RowParts(plan.driverKey(), 1);
  }

  /** As many as the task has threads that has most of them, while tasks are few. */
  public static RowParts of(SolvePlan plan, ClusterResources resources) {
    int threads = 1;
    for (int l = 0; l < plan.partition().levels(); l++) {
      for (int t : resources.threads(plan.partition().level(l))) {
        threads = Math.max(threads, t);
      }
    }
    int most = resources.local() ? threads : Math.min(threads, MOST_REMOTE);
    int tasks = plan.driverKey();
    return new RowParts(tasks, Math.max(1, Math.min(most, MOST / (tasks + 1))));
  }

  /** Partitions in all. */
  public int count() {
    return tasks * each + 1;
  }

  /** The driver's share. */
  public int driver() {
    return tasks * each;
  }

  /** The first of a task. */
  int first(int task) {
    return task * each;
  }

  /** What a partition of the input has for tasks, by partition instead. */
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
   * A task's elements, its partitions read side by side; in their order.
   *
   * @param threads that the task may use
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
          // what Spark reads asks the thread whose task it is
          TaskContext before = TaskContext.get();
          ClassLoader own = Thread.currentThread().getContextClassLoader();
          TaskContext$.MODULE$.setTaskContext(context);
          Thread.currentThread().setContextClassLoader(classes);
          try {
            if (failure.get() == null) {
              found.set(k, read(rows, all[first(task) + k], context));
            }
          } catch (Throwable e) {
            // a lost shuffle output is a checked exception, and Spark's to handle
            failure.compareAndSet(null, e);
          } finally {
            Thread.currentThread().setContextClassLoader(own);
            TaskContext$.MODULE$.setTaskContext(before);
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
