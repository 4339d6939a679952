/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.internals;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import org.apache.spark.SparkEnv;
import org.apache.spark.memory.MemoryMode;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.BlockManager;
import org.apache.spark.storage.BlockManagerId;
import org.apache.spark.storage.BroadcastBlockId;
import org.apache.spark.storage.RDDBlockId;
import org.apache.spark.storage.StorageLevel;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/**
 * The blocks that Spark stores: the partitions of persisted RDDs, and blocks under the number of an
 * RDD that we put there ourselves.
 */
public final class StoredBlocks {

  private StoredBlocks() {}

  private static BlockManager manager() {
    return SparkEnv.get().blockManager();
  }

  private static RDDBlockId id(int rdd, int partition) {
    return new RDDBlockId(rdd, partition);
  }

  /** Bytes of the heap of this JVM that blocks take. */
  public static long heapBytes() {
    return SparkEnv.get().memoryManager().onHeapStorageMemoryUsed();
  }

  /**
   * Evicts blocks from the heap of this JVM, the least recently used first: exactly as many bytes
   * as asked for, a little more, or none. None without Spark.
   *
   * @return bytes evicted
   */
  public static long evict(long bytes) {
    SparkEnv env = SparkEnv.get();
    return env == null
        ? 0
        : env.blockManager()
            .memoryStore()
            .evictBlocksToFreeSpace(Option.empty(), bytes, MemoryMode.ON_HEAP);
  }

  /** Stores a value in the memory of this JVM, and tells the driver; false if it is not stored. */
  public static boolean put(int rdd, int partition, Object value) {
    ClassTag<Object> any = ClassTag$.MODULE$.apply(Object.class);
    return manager().putSingle(id(rdd, partition), value, StorageLevel.MEMORY_ONLY(), true, any);
  }

  /** The single value of a block of this JVM; empty if there is none, or it has several. */
  public static Optional<Object> value(int rdd, int partition) {
    var found = manager().getLocalValues(id(rdd, partition));
    if (found.isEmpty()) {
      return Optional.empty();
    }
    scala.collection.Iterator<Object> values = found.get().data();
    Object value = values.next();
    // Spark lets go of the block at its end.
    return values.hasNext() ? Optional.empty() : Optional.of(value);
  }

  /** The single value of a block of any JVM, fetched if need be; empty as for {@link #value}. */
  public static Optional<Object> fetched(int rdd, int partition) {
    var found = manager().get(id(rdd, partition), ClassTag$.MODULE$.apply(Object.class));
    if (found.isEmpty()) {
      return Optional.empty();
    }
    scala.collection.Iterator<Object> values = found.get().data();
    Object value = values.next();
    return values.hasNext() ? Optional.empty() : Optional.of(value);
  }

  /** Whether this JVM has the value of a broadcast, in memory or on disk: until it is destroyed. */
  public static boolean isBroadcastHere(long broadcast) {
    SparkEnv env = SparkEnv.get();
    return env != null
        && env.blockManager().getStatus(new BroadcastBlockId(broadcast, "")).isDefined();
  }

  /** Removes a block from this JVM, and tells the driver. */
  public static void remove(int rdd, int partition) {
    manager().removeBlock(id(rdd, partition), true);
  }

  /** Removes a block from this JVM at once, and from all others soon. */
  public static void removeEverywhere(int rdd, int partition) {
    remove(rdd, partition);
    manager().master().removeBlock(id(rdd, partition));
  }

  /** Whether any JVM has a block; asks the driver. */
  public static boolean isStored(int rdd, int partition) {
    return manager().master().contains(id(rdd, partition));
  }

  /**
   * The executors that have the blocks of an RDD, for the partitions from 0 on; on the driver.
   *
   * @return of each partition the ids, none if nobody has it
   */
  public static List<List<String>> executors(int rdd, int partitions) {
    var blocks = new BlockId[partitions];
    for (int p = 0; p < partitions; p++) {
      blocks[p] = id(rdd, p);
    }
    List<List<String>> executors = new ArrayList<>();
    for (Seq<BlockManagerId> at :
        CollectionConverters.asJava(manager().master().getLocations(blocks))) {
      executors.add(
          CollectionConverters.asJava(at).stream().map(BlockManagerId::executorId).toList());
    }
    return executors;
  }

  /**
   * Keeps a block that is in the memory of this JVM as objects from being evicted, until it is
   * {@link #release}d; false if there is none.
   */
  public static boolean lock(int rdd, int partition) {
    BlockManager blocks = manager();
    RDDBlockId id = id(rdd, partition);
    var status = blocks.getStatus(id);
    // The block is locked until these values have been read to their end, which nobody does.
    if (status.isEmpty() || status.get().memSize() == 0 || blocks.getLocalValues(id).isEmpty()) {
      return false;
    }
    if (!blocks.memoryStore().contains(id)) {
      release(rdd, partition);
      return false;
    }
    return true;
  }

  /** The elements of a block that is locked, as often as they are asked for. */
  @SuppressWarnings("unchecked")
  public static <T> Iterator<T> locked(int rdd, int partition) {
    var elements = manager().memoryStore().getValues(id(rdd, partition)).get();
    return (Iterator<T>) CollectionConverters.asJava(elements);
  }

  /** Releases a block that is locked. */
  public static void release(int rdd, int partition) {
    manager().releaseLock(id(rdd, partition), Option.empty());
  }
}
