/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factor;

import io.sparqr.spark.engine.PlannedPlaces;
import io.sparqr.spark.engine.SparkErrors;
import io.sparqr.spark.stored.TaskOutput;
import java.util.Iterator;
import org.apache.spark.Partition;
import org.apache.spark.SparkContext;
import org.apache.spark.TaskContext;
import org.jspecify.annotations.Nullable;
import scala.jdk.javaapi.CollectionConverters;

/**
 * What the tasks of a level keep: R with their reports. Where they also pass blocks on, the run for
 * the blocks ({@link PassedRdd}) leaves it here.
 */
final class FactorRdd extends LevelRdd<TaskOutput> {

  private static final long serialVersionUID = 1;

  private final Keeping keeping;

  /** Of the partition that is being left here; a task has this object to itself. */
  private transient @Nullable Iterator<TaskOutput> left;

  /**
   * @param keeping what the tasks keep
   */
  FactorRdd(
      SparkContext context, Tasks tasks, Inputs inputs, PlannedPlaces places, Keeping keeping) {
    super(context, tasks, inputs, places, TaskOutput.class);
    this.keeping = keeping;
  }

  /** What the tasks keep. */
  Keeping keeping() {
    return keeping;
  }

  /**
   * Has a partition stored that is made already.
   *
   * @param store asks for the partition, unless another attempt has stored it meanwhile
   */
  void leave(Iterator<TaskOutput> kept, Runnable store) {
    left = kept;
    try {
      store.run();
    } finally {
      left = null;
    }
    kept.forEachRemaining(FactorRdd::close);
  }

  private static void close(TaskOutput nobodys) {
    if (nobodys instanceof AutoCloseable c) {
      try {
        c.close();
      } catch (Exception e) {
        throw SparkErrors.<RuntimeException>sneaky(e);
      }
    }
  }

  @Override
  public scala.collection.Iterator<TaskOutput> compute(Partition split, TaskContext context) {
    return CollectionConverters.asScala(left != null ? left : run(split, context, keeping).kept());
  }
}
