/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.resource;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.storage.BlockManager;
import org.apache.spark.storage.BlockResult;
import org.apache.spark.storage.BlockStatus;
import org.apache.spark.storage.RDDBlockId;
import org.apache.spark.storage.StorageLevel;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The partitions of a persisted RDD, all of whose elements are objects in the memory of this JVM:
 * they are read without a job, whose overhead is many times that of reading a few numbers a row.
 * Spark evicts none of them before it has been read to its end, or this is closed.
 *
 * @param <T> element
 */
public final class StoredParts<T> implements AutoCloseable {

  private final BlockManager blocks;
  private final List<Part> parts = new ArrayList<>();

  private StoredParts(BlockManager blocks) {
    this.blocks = blocks;
  }

  /** A partition, locked until it has been read to its end. */
  private final class Part implements Iterator<T> {
    private final RDDBlockId id;
    private final Iterator<Object> elements;
    private boolean over;

    Part(RDDBlockId id, BlockResult found) {
      this.id = id;
      this.elements = CollectionConverters.asJava(found.data());
    }

    @Override
    public boolean hasNext() {
      over = over || !elements.hasNext();
      return !over;
    }

    @Override
    @SuppressWarnings("unchecked")
    public T next() {
      return (T) elements.next();
    }

    void close() {
      if (!over) {
        over = true;
        blocks.releaseLock(id, Option.empty());
      }
    }
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
      Option<BlockResult> values = blocks.getLocalValues(id);
      if (values.isEmpty()) {
        return false;
      }
      parts.add(new Part(id, values.get()));
    }
    return true;
  }

  /** The elements of a partition, once; by any one thread. */
  public Iterator<T> partition(int p) {
    return parts.get(p);
  }

  /** Lets go of what has not been read. */
  @Override
  public void close() {
    parts.forEach(Part::close);
  }
}
