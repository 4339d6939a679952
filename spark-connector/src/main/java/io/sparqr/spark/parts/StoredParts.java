/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.parts;

import io.sparqr.spark.internals.StoredBlocks;
import java.util.Iterator;
import java.util.Objects;
import java.util.Optional;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.storage.StorageLevel;

/**
 * The partitions of a persisted RDD, all of whose elements are objects in the memory of this JVM:
 * they are read without a job, whose overhead is many times that of reading a few numbers a row.
 * Spark evicts none of them before this is closed, so that they can be read again, and need no
 * copy.
 *
 * @param <T> element
 */
final class StoredParts<T> implements AutoCloseable {

  private final int rdd;

  /** Partitions that are locked: those from 0 on. */
  private int locked;

  private StoredParts(int rdd) {
    this.rdd = rdd;
  }

  /** Finds all partitions; empty unless they are all there. */
  static <T> Optional<StoredParts<T>> of(JavaRDD<T> rdd) {
    StorageLevel level = rdd.getStorageLevel();
    if (!level.useMemory() || !level.deserialized()) {
      return Optional.empty();
    }
    var found = new StoredParts<T>(rdd.id());
    boolean all = false;
    try {
      all = found.lock(rdd.getNumPartitions());
    } finally {
      if (!all) {
        found.close();
      }
    }
    return all ? Optional.of(found) : Optional.empty();
  }

  private boolean lock(int count) {
    while (locked < count && StoredBlocks.lock(rdd, locked)) {
      locked++;
    }
    return locked == count;
  }

  /** The elements of a partition, before this is closed. */
  Iterator<T> partition(int p) {
    return StoredBlocks.locked(rdd, Objects.checkIndex(p, locked));
  }

  /** Lets go of all partitions; idempotent. */
  @Override
  public void close() {
    while (locked > 0) {
      StoredBlocks.release(rdd, --locked);
    }
  }
}
