/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.resource;

import java.util.concurrent.atomic.AtomicLong;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.memory.MemoryMode;
import org.apache.spark.util.TaskCompletionListener;
import scala.Option;

/**
 * Room in a JVM's heap for what tasks are foretold to take. Spark knows two users of a heap: blocks
 * that it keeps (persisted RDDs, cached Datasets, broadcasts) and the pages of its own operators,
 * which push blocks out. Plain arrays, as fronts are, it does not know of, and fills up to {@code
 * spark.memory.fraction} of the heap with blocks whatever they take: a Dataset of ten million rows
 * left a heap of 1 GB no room for tasks that fitted it well.
 *
 * <p>So blocks are pushed out by hand, the least recently used first, to disk where their storage
 * level has it. A {@code MemoryConsumer} would not do: what it may ask for ends at the half of
 * Spark's part that blocks keep ({@code spark.memory.storageFraction}), and a task that had all the
 * rest would keep the next one waiting until it ends.
 */
public final class TaskHeap {

  /**
   * Of the heap, what is there for blocks and foretold arrays together: they outlive many
   * collections, and the serial and the parallel collector give such objects two thirds.
   */
  private static final double SHARE = 0.6;

  /** Less than this is not worth a search. */
  private static final long LEAST = 1 << 16;

  /** What the tasks of this JVM that are running were foretold to take. */
  private static final AtomicLong FORETOLD = new AtomicLong();

  private TaskHeap() {}

  /**
   * A task begins, and has until its end what it is foretold to take; as many bytes of blocks go as
   * do not find room beside it and the others. What is being read stays.
   *
   * @param bytes foretold
   */
  public static void take(TaskContext context, long bytes) {
    long all = FORETOLD.addAndGet(bytes);
    context.addTaskCompletionListener((TaskCompletionListener) ended -> FORETOLD.addAndGet(-bytes));
    long heap = Runtime.getRuntime().maxMemory();
    evict(excess(heap, SparkEnv.get().memoryManager().onHeapStorageMemoryUsed(), all));
  }

  /** Bytes of blocks that find no room. */
  static long excess(long heap, long blocks, long foretold) {
    return Math.max(0, Math.min(blocks, blocks + foretold - (long) (SHARE * heap)));
  }

  /**
   * Pushes blocks out of this JVM's heap.
   *
   * @param bytes so many or a little more; where blocks that may go have less, about all of them
   * @return bytes that went
   */
  public static long evict(long bytes) {
    SparkEnv env = SparkEnv.get();
    if (env == null) {
      return 0;
    }
    var store = env.blockManager().memoryStore();
    long gone = 0;
    // Spark pushes out all that it is asked for, or nothing
    for (long step = bytes; step >= LEAST && gone < bytes; ) {
      long found = store.evictBlocksToFreeSpace(Option.empty(), step, MemoryMode.ON_HEAP);
      gone += found;
      step = found == 0 ? step / 2 : Math.min(step, bytes - gone);
    }
    return gone;
  }
}
