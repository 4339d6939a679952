/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.engine;

import io.sparqr.jvm.JvmPart;
import io.sparqr.spark.internals.StoredBlocks;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.spark.TaskContext;
import org.apache.spark.util.TaskCompletionListener;

/**
 * Makes room in a JVM's heap for the predicted memory of tasks. Spark manages two uses of the heap:
 * stored blocks (persisted RDDs, cached Datasets, broadcasts) and the pages of its own operators,
 * which evict blocks. It does not account for plain arrays such as fronts, and fills up to {@code
 * spark.memory.fraction} of the heap with blocks regardless of them: a Dataset of ten million rows
 * left no room in a heap of 1 GB for tasks that would otherwise have fitted easily.
 *
 * <p>Blocks are therefore evicted explicitly, the least recently used first, to disk if their
 * storage level allows it. A {@code MemoryConsumer} would not suffice: it cannot claim the half of
 * Spark's share that is reserved for blocks ({@code spark.memory.storageFraction}), and a task that
 * held all the rest would block the next one until it ends.
 *
 * <p>No {@link io.sparqr.jvm.ByteBudget}: a prediction is never refused, because the task runs in
 * any case.
 */
public final class TaskHeap {

  /**
   * Fraction of the heap available to blocks and predicted arrays together. They survive many
   * collections, and the serial and the parallel collector reserve two thirds of the heap for such
   * objects.
   */
  private static final double SHARE = 0.6;

  /** Smaller amounts are not worth an eviction. */
  private static final long LEAST = 1 << 16;

  /**
   * Number of times that the blocks are looked at: some, such as a running job's broadcasts, come
   * back after their eviction, and others would stay in their place.
   */
  private static final int ROUNDS = 4;

  private static final JvmPart<TaskHeap> OF_JVM =
      JvmPart.holding(
          "predicted bytes of running tasks", TaskHeap::new, heap -> heap.predicted.get());

  /** Total prediction for the running tasks of this JVM. */
  private final AtomicLong predicted = new AtomicLong();

  private TaskHeap() {}

  /**
   * Reserves the predicted bytes until the end of the task; evicts blocks that do not fit beside
   * these and the reservations of other tasks. Blocks being read stay.
   *
   * @param bytes the prediction
   */
  public static void take(TaskContext context, long bytes) {
    OF_JVM.get().book(context, bytes);
  }

  private void book(TaskContext context, long bytes) {
    predicted.addAndGet(bytes);
    context.addTaskCompletionListener(
        (TaskCompletionListener) ended -> predicted.addAndGet(-bytes));
    long heap = Runtime.getRuntime().maxMemory();
    long evicted = 1;
    for (int round = 0; round < ROUNDS && evicted > 0; round++) {
      // From a look at the blocks to their eviction: two tasks would evict for the same need.
      synchronized (this) {
        long blocks = StoredBlocks.heapBytes();
        evicted = evict(excess(heap, blocks, predicted.get()));
      }
    }
  }

  /** Bytes of blocks that do not fit. */
  static long excess(long heap, long blocks, long foretold) {
    return Math.max(0, Math.min(blocks, blocks + foretold - (long) (SHARE * heap)));
  }

  /**
   * Evicts blocks from this JVM's heap.
   *
   * @param bytes the bytes to evict, or slightly more; nearly all evictable blocks if they have
   *     less
   * @return bytes evicted
   */
  public static long evict(long bytes) {
    long gone = 0;
    // Spark evicts either the full amount requested or nothing.
    for (long step = bytes; step >= LEAST && gone < bytes; ) {
      long found = StoredBlocks.evict(step);
      gone += found;
      step = found == 0 ? step / 2 : Math.min(step, bytes - gone);
    }
    return gone;
  }
}
