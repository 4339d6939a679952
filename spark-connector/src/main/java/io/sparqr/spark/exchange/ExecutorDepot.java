/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.exchange;

import io.sparqr.spark.engine.ClassTags;
import io.sparqr.spark.engine.Engine;
import io.sparqr.spark.engine.PlannedPlaces;
import java.util.Optional;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.BlockManager;
import org.apache.spark.storage.RDDBlockId;
import org.apache.spark.storage.StorageLevel;
import org.slf4j.LoggerFactory;
import scala.collection.Iterator;

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
    put(SparkEnv.get().blockManager(), DRIVERS, true);
  }

  /**
   * Whether an engine's tasks run in other JVMs, which can hold values. If Kryo accepts only
   * registered classes, Spark could not move the block of an executor that is to end.
   */
  static boolean possible(Engine engine) {
    return engine.spark()
        && !engine.oneJvm()
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
    BlockManager manager = SparkEnv.get().blockManager();
    var deposit = new Deposit(value, bytes, room.get());
    boolean held = false;
    try {
      held =
          here(manager, number) == null
              && put(manager, number, deposit)
              && here(manager, number) == deposit
              && manager.master().contains(block(DRIVERS));
    } catch (Exception e) {
      // An executor that is to end stores nothing, and the task can do without.
      LoggerFactory.getLogger(ExecutorDepot.class).debug("a value is not held", e);
      if (e instanceof InterruptedException) {
        Thread.currentThread().interrupt();
      }
    } finally {
      if (!held) {
        drop(manager, number, deposit);
      }
    }
    return held;
  }

  private boolean put(BlockManager manager, long number, Object value) {
    return manager.putSingle(
        block(number), value, StorageLevel.MEMORY_ONLY(), true, ClassTags.any());
  }

  private void drop(BlockManager manager, long number, Deposit deposit) {
    try {
      if (here(manager, number) == deposit) {
        manager.removeBlock(block(number), true);
      }
    } finally {
      deposit.close();
    }
  }

  /** The block of this JVM; null if there is none. */
  private Object here(BlockManager manager, long number) {
    var found = manager.getLocalValues(block(number));
    if (found.isEmpty()) {
      return null;
    }
    Iterator<Object> values = found.get().data();
    Object value = values.next();
    // Spark lets go of the block at its end.
    return values.hasNext() ? null : value;
  }

  private BlockId block(long number) {
    return new RDDBlockId(rdd, Math.toIntExact(number));
  }

  @Override
  public <T> Optional<T> find(long number, Class<T> type) {
    return here(SparkEnv.get().blockManager(), number) instanceof Deposit d
        ? d.value().map(type::cast)
        : Optional.empty();
  }

  @Override
  public Optional<PlannedPlaces> places(int count) {
    var values = new BlockId[count];
    for (int k = 0; k < count; k++) {
      values[k] = block(k);
    }
    return Optional.of(DepotPlaces.of(context, values));
  }

  @Override
  public void close() {
    blocks.unpersist(false);
  }
}
