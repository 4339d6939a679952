/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factor;

import io.sparqr.spark.internals.StoredBlocks;
import java.io.Serializable;
import org.apache.spark.Partition;
import org.apache.spark.TaskContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.storage.StorageLevel;
import scala.collection.Iterator;

/**
 * Where what the tasks of a level keep is stored: the RDD that is persisted, a {@link FactorRdd} or
 * its frames.
 */
record StoredLevel(RDD<?> rdd) implements Serializable {

  /** Whether a partition is stored, or none is to be any more. Asks the driver. */
  boolean has(int partition) {
    return rdd.getStorageLevel().equals(StorageLevel.NONE())
        || StoredBlocks.isStored(rdd.id(), partition);
  }

  /** Stores a partition as Spark stores any. */
  void fill(Partition split, TaskContext context) {
    Iterator<?> stored = rdd.iterator(split, context);
    // To its end, because that is when Spark lets go of the stored partition.
    while (stored.hasNext()) {
      stored.next();
    }
  }
}
