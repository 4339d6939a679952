/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.parts;

import io.sparqr.spark.engine.ClassTags;
import io.sparqr.spark.engine.KeyPartitioner;
import io.sparqr.spark.engine.SparkErrors;
import io.sparqr.spark.internals.QuietRdd;
import io.sparqr.spark.internals.RunningTask;
import io.sparqr.spark.internals.ShuffleOutput;
import io.sparqr.spark.wire.Frame;
import org.apache.spark.Partition;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.rdd.RDD;
import scala.Product2;
import scala.Tuple2;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;

/**
 * Frames by the partition that is their key, after a shuffle. Spark notices a damaged block only if
 * it was compressed. Here each frame's checksum is looked at as it arrives; if one is wrong, or the
 * elements cannot be read, and reading once more shows that what a map task has left is damaged,
 * that map task is run again ({@link ShuffleOutput}). Otherwise each attempt of a task would fail
 * at the same file.
 */
public final class ShuffledFrames extends QuietRdd<Tuple2<Integer, byte[]>> {

  private static final long serialVersionUID = 1;

  private final KeyPartitioner partitioner;

  private ShuffledFrames(RDD<Tuple2<Integer, byte[]>> shuffled, KeyPartitioner partitioner) {
    super(shuffled, ClassTags.<Tuple2<Integer, byte[]>>any());
    this.partitioner = partitioner;
  }

  /** Shuffles frames to the partitions 0 to {@code count} - 1 that are their keys. */
  public static JavaPairRDD<Integer, byte[]> of(
      JavaRDD<Tuple2<Integer, byte[]>> frames, int count) {
    return of(JavaPairRDD.fromJavaRDD(frames), count);
  }

  /** As above, of pairs. */
  public static JavaPairRDD<Integer, byte[]> of(JavaPairRDD<Integer, byte[]> frames, int count) {
    var partitioner = new KeyPartitioner(count);
    var made = new ShuffledFrames(frames.partitionBy(partitioner).rdd(), partitioner);
    return JavaPairRDD.fromJavaRDD(JavaRDD.fromRDD(made, ClassTags.any()));
  }

  /** The shuffle itself below such an RDD; another RDD as it is. */
  static RDD<?> shuffled(RDD<?> read) {
    return read instanceof ShuffledFrames frames ? frames.parent() : read;
  }

  @Override
  public Partition[] getPartitions() {
    return parent().partitions();
  }

  private RDD<Tuple2<Integer, byte[]>> parent() {
    return firstParent(ClassTags.<Tuple2<Integer, byte[]>>any());
  }

  @Override
  public Iterator<Tuple2<Integer, byte[]>> compute(Partition split, TaskContext context) {
    return new Checked(split, context);
  }

  private boolean sound(int partition, Product2<?, ?> element) {
    return partitioner.getPartition(element._1()) == partition
        && element._2() instanceof byte[] frame
        && !Frame.isDamaged(frame);
  }

  /** The elements of a partition. */
  private final class Checked extends AbstractIterator<Tuple2<Integer, byte[]>> {

    private final int partition;
    private final TaskContext context;
    private final Iterator<Tuple2<Integer, byte[]>> elements;

    Checked(Partition split, TaskContext context) {
      this.partition = split.index();
      this.context = context;
      this.elements = parent().iterator(split, context);
    }

    @Override
    public boolean hasNext() {
      try {
        return elements.hasNext();
      } catch (Exception | OutOfMemoryError e) {
        throw examined(e);
      }
    }

    @Override
    public Tuple2<Integer, byte[]> next() {
      Tuple2<Integer, byte[]> next;
      try {
        next = elements.next();
        if (sound(partition, next)) {
          return next;
        }
      } catch (Exception | OutOfMemoryError e) {
        throw examined(e);
      }
      // If it is not what lies there that is damaged, the reader of the frame says so.
      examine();
      return next;
    }

    private RuntimeException examined(Throwable e) {
      if (!RunningTask.isLostShuffle(e) && !context.isInterrupted()) {
        examine();
      }
      throw SparkErrors.<RuntimeException>sneaky(e);
    }

    private void examine() {
      ShuffleOutput.requireSound(parent(), partition, context, e -> sound(partition, e));
    }
  }
}
