/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.internals;

import java.util.function.Predicate;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.shuffle.FetchFailedException;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.BlockManagerId;
import org.apache.spark.storage.ShuffleBlockId;
import scala.Product2;
import scala.Tuple2;
import scala.Tuple3;
import scala.collection.Iterator;
import scala.collection.Seq;

/** What map tasks have left for a partition of a shuffle. */
public final class ShuffleOutput {

  private ShuffleOutput() {}

  /**
   * Reads a partition again, one map task after the other. The first of them whose output cannot be
   * read, or has an element that fails the test, is reported as one that could not be fetched:
   * Spark then runs that map task again. (Spark itself does so if a compressed block cannot be
   * decompressed, and finds nothing wrong with one that is not compressed.) Returns if all is well.
   *
   * @param shuffled an RDD with one dependency, a shuffle
   * @param sound the test of an element, a pair of key and value
   * @throws FetchFailedException (which no signature declares) for an output that is damaged or
   *     lost
   */
  public static void requireSound(
      RDD<?> shuffled, int partition, TaskContext context, Predicate<Product2<?, ?>> sound) {
    var dependency = (ShuffleDependency<?, ?, ?>) shuffled.dependencies().apply(0);
    Iterator<Tuple2<BlockManagerId, Seq<Tuple3<BlockId, Object, Object>>>> places =
        SparkEnv.get()
            .mapOutputTracker()
            .getMapSizesByExecutorId(
                dependency.shuffleId(), 0, Integer.MAX_VALUE, partition, partition + 1);
    while (places.hasNext()) {
      Tuple2<BlockManagerId, Seq<Tuple3<BlockId, Object, Object>>> place = places.next();
      Iterator<Tuple3<BlockId, Object, Object>> blocks = place._2().iterator();
      while (blocks.hasNext()) {
        Tuple3<BlockId, Object, Object> block = blocks.next();
        if (block._1() instanceof ShuffleBlockId id) {
          var output = new Output(dependency, place._1(), id, (int) block._3());
          output.require(context, sound);
        }
      }
    }
  }

  /**
   * The output of one map task.
   *
   * @param map index of the task among those of its stage
   */
  private record Output(
      ShuffleDependency<?, ?, ?> dependency, BlockManagerId place, ShuffleBlockId id, int map) {

    void require(TaskContext context, Predicate<Product2<?, ?>> sound) {
      String wrong = "";
      try {
        wrong = allSound(context, sound) ? "" : "an element of it is damaged";
      } catch (Exception | OutOfMemoryError e) {
        if (RunningTask.isLostShuffle(e)) {
          throw ShuffleOutput.<RuntimeException>sneaky(e);
        }
        wrong = "it cannot be read: " + e;
      }
      if (!wrong.isEmpty()) {
        String what = "damaged output of a shuffle, %s of %s: %s";
        throw ShuffleOutput.<RuntimeException>sneaky(
            new FetchFailedException(
                place,
                dependency.shuffleId(),
                id.mapId(),
                map,
                id.reduceId(),
                what.formatted(id, place.host(), wrong),
                null));
      }
    }

    private boolean allSound(TaskContext context, Predicate<Product2<?, ?>> sound) {
      int partition = id.reduceId();
      var elements =
          SparkEnv.get()
              .shuffleManager()
              .getReader(
                  dependency.shuffleHandle(),
                  map,
                  map + 1,
                  partition,
                  partition + 1,
                  context,
                  context.taskMetrics().createTempShuffleReadMetrics())
              .read();
      while (elements.hasNext()) {
        if (!sound.test((Product2<?, ?>) elements.next())) {
          return false;
        }
      }
      return true;
    }
  }

  @SuppressWarnings("unchecked")
  private static <E extends Throwable> RuntimeException sneaky(Throwable e) throws E {
    throw (E) e;
  }
}
