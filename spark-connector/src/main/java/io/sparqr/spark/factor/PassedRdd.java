/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factor;

import io.sparqr.spark.engine.PlannedPlaces;
import java.util.List;
import org.apache.spark.Partition;
import org.apache.spark.SparkContext;
import org.apache.spark.TaskContext;
import org.apache.spark.storage.StorageLevel;
import org.jspecify.annotations.Nullable;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The contribution blocks that the tasks of a level pass on. They are stored from the run that also
 * makes R until their shuffle files are written. If such a file is lost later, its task is run
 * again for the blocks alone, and R stays as it is.
 */
final class PassedRdd extends LevelRdd<byte[]> {

  private static final long serialVersionUID = 1;

  /** Of the partition that is being left here; a task has this object to itself. */
  private transient @Nullable List<byte[]> left;

  PassedRdd(SparkContext context, Tasks tasks, Inputs inputs, PlannedPlaces places) {
    super(context, tasks, inputs, places, byte[].class);
  }

  /**
   * Stores a partition that is made already, as Spark stores every other one; does nothing if the
   * blocks are no longer stored.
   */
  void leave(List<byte[]> blocks, Partition split, TaskContext context) {
    if (getStorageLevel().equals(StorageLevel.NONE())) {
      return;
    }
    left = blocks;
    try {
      Iterator<byte[]> stored = iterator(split, context);
      // To its end, because that is when Spark lets go of the stored partition.
      while (stored.hasNext()) {
        stored.next();
      }
    } finally {
      left = null;
    }
  }

  @Override
  public Iterator<byte[]> compute(Partition split, TaskContext context) {
    List<byte[]> blocks = left != null ? left : run(split, context, new Keeping.Nothing()).passed();
    return CollectionConverters.asScala(blocks.iterator());
  }
}
