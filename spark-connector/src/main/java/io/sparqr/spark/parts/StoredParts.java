/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.parts;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.storage.BlockManager;
import org.apache.spark.storage.BlockStatus;
import org.apache.spark.storage.RDDBlockId;
import org.apache.spark.storage.StorageLevel;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The partitions of a persisted RDD, all of whose elements are objects in the memory of this JVM:
 * they are read without a job, whose overhead is many times that of reading a few numbers a row.
 * Spark evicts none of them before this is closed, so that they can be read again, and need no
 * copy.
 *
 * @param <T> element
 */
public final class StoredParts<T> implements AutoCloseable {

  private final BlockManager blocks;
  private final List<RDDBlockId> locked = new ArrayList<>();

  private StoredParts(BlockManager blocks) {
    this.blocks = blocks;
  }

  /** Finds all partitions; empty unless they are all there. */
  static <T> Optional<StoredParts<T>> of(JavaRDD<T> rdd) {
    StorageLevel level = rdd.getStorageLevel();
    if (!level.useMemory() || !level.deserialized()) {
      return Optional.empty();
    }
    var found = new StoredParts<T>(SparkEnv.get().blockManager());
    boolean all = false;
    try {
      all = found.add(rdd.id(), rdd.getNumPartitions());
    } finally {
      if (!all) {
        found.close();
      }
    }
    return all ? Optional.of(found) : Optional.empty();
  }

  private boolean add(int rdd, int count) {
    for (int p = 0; p < count; p++) {
      var id = new RDDBlockId(rdd, p);
      Option<BlockStatus> status = blocks.getStatus(id);
      if (status.isEmpty() || status.get().memSize() == 0) {
        return false;
      }
      // Locks the block until these values have been read to their end, which never happens.
      if (blocks.getLocalValues(id).isEmpty()) {
        return false;
      }
      locked.add(id);
      if (!blocks.memoryStore().contains(id)) {
        return false;
      }
    }
    return true;
  }

  /** The elements of a partition, before this is closed. */
  @SuppressWarnings("unchecked")
  public Iterator<T> partition(int p) {
    var elements = blocks.memoryStore().getValues(locked.get(p)).get();
    return (Iterator<T>) CollectionConverters.asJava(elements);
  }

  /** Lets go of all partitions; idempotent. */
  @Override
  public void close() {
    locked.forEach(id -> blocks.releaseLock(id, Option.empty()));
    locked.clear();
  }
}
