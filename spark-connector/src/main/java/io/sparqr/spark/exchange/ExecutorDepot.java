/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.exchange;

import io.sparqr.spark.engine.Engine;
import io.sparqr.spark.engine.PlannedPlaces;
import io.sparqr.spark.internals.StoredBlocks;
import java.util.Optional;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.storage.StorageLevel;
import org.slf4j.LoggerFactory;

/**
 * A {@link Depot} of executors in JVMs of their own. A value is a block of an RDD that is never
 * computed: Spark knows which executor has it, removes it with the RDD, whatever has become of the
 * solve, and closes it then, which gives its bytes back to the JVM's room ({@link Deposit}).
 *
 * <p>A task that is no longer wanted may leave a value after the end, when Spark removes nothing
 * any more. The driver therefore holds a block of the RDD, too. A task that has left its value
 * looks for that one: if the driver's is gone, the task removes its own; if not, the end is still
 * to come.
 */
final class ExecutorDepot implements Depot {

  private static final long serialVersionUID = 1;

  /** Number of the driver's block, far from those of values. */
  private static final int DRIVERS = Integer.MAX_VALUE;

  private final Room room;
  private final int rdd;

  /** On the driver. */
  private final transient JavaSparkContext context;

  private final transient JavaRDD<Object> blocks;

  /**
   * A depot that is open until {@link #close}.
   *
   * @param name for Spark's pages
   */
  ExecutorDepot(JavaSparkContext context, String name, Room room) {
    this.room = room;
    this.context = context;
    this.blocks = context.emptyRDD();
    this.rdd = blocks.id();
    blocks.setName(name).persist(StorageLevel.MEMORY_ONLY());
    StoredBlocks.put(rdd, DRIVERS, true);
  }

  /**
   * Whether an engine's tasks run in other JVMs, which can hold values. If Kryo accepts only
   * registered classes, Spark could not move the block of an executor that is to end.
   */
  static boolean possible(Engine engine) {
    return engine.reach() == Engine.Reach.NETWORK
        && !Boolean.parseBoolean(engine.setting("spark.kryo.registrationRequired"));
  }

  @Override
  public boolean take(long bytes) {
    return room.get().take(bytes);
  }

  @Override
  public void giveBack(long bytes) {
    room.get().giveBack(bytes);
  }

  /** Leaves a value, unless another attempt of the task has done so in this JVM. */
  @Override
  public boolean keep(long number, Object value, long bytes) {
    int block = Math.toIntExact(number);
    var deposit = new Deposit(value, bytes, room.get());
    boolean held = false;
    try {
      held =
          StoredBlocks.value(rdd, block).isEmpty()
              && StoredBlocks.put(rdd, block, deposit)
              && isHere(block, deposit)
              && StoredBlocks.isStored(rdd, DRIVERS);
    } catch (Exception e) {
      // An executor that is to end stores nothing, and the task can do without.
      LoggerFactory.getLogger(ExecutorDepot.class).debug("a value is not held", e);
      if (e instanceof InterruptedException) {
        Thread.currentThread().interrupt();
      }
    } finally {
      if (!held) {
        drop(block, deposit);
      }
    }
    return held;
  }

  private void drop(int block, Deposit deposit) {
    try {
      if (isHere(block, deposit)) {
        StoredBlocks.remove(rdd, block);
      }
    } finally {
      deposit.close();
    }
  }

  private boolean isHere(int block, Deposit deposit) {
    return StoredBlocks.value(rdd, block).orElse(null) == deposit;
  }

  @Override
  public <T> Optional<T> find(long number, Class<T> type) {
    return StoredBlocks.value(rdd, Math.toIntExact(number)).orElse(null) instanceof Deposit d
        ? d.value().map(type::cast)
        : Optional.empty();
  }

  @Override
  public Optional<PlannedPlaces> places(int count) {
    return Optional.of(DepotPlaces.of(context, rdd, count));
  }

  @Override
  public void close() {
    blocks.unpersist(false);
  }
}
