/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factor;

import io.sparqr.spark.internals.QuietRdd;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.Dependency;
import org.apache.spark.Partition;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.rdd.RDD;
import scala.Tuple2;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag$;

/**
 * Partitions [first, first + count) of data shuffled by task: the frames for the tasks of a level.
 */
public final class TaskSlice extends QuietRdd<byte[]> {

  private static final long serialVersionUID = 1;

  private final int first;
  private final int count;

  private TaskSlice(RDD<Tuple2<Integer, byte[]>> all, int first, int count) {
    super(
        all.context(),
        CollectionConverters.asScala(List.<Dependency<?>>of(new FromTask(all, first))).toSeq(),
        ClassTag$.MODULE$.apply(byte[].class));
    this.first = first;
    this.count = count;
  }

  /** A slice of shuffled frames. */
  public static JavaRDD<byte[]> of(JavaPairRDD<Integer, byte[]> all, int first, int count) {
    return new JavaRDD<>(
        new TaskSlice(all.rdd(), first, count), ClassTag$.MODULE$.apply(byte[].class));
  }

  /** A partition with its parent's partition, which an executor cannot look up. */
  private record Slot(int index, Partition from) implements Partition {
    @Override
    public int hashCode() {
      return index;
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Slot s && s.index == index;
    }
  }

  @Override
  public Partition[] getPartitions() {
    Partition[] from = dependencies().apply(0).rdd().partitions();
    var all = new Partition[count];
    for (int i = 0; i < count; i++) {
      all[i] = new Slot(i, from[first + i]);
    }
    return all;
  }

  @Override
  public Iterator<byte[]> compute(Partition split, TaskContext context) {
    Iterator<?> frames = dependencies().apply(0).rdd().iterator(((Slot) split).from, context);
    var list = new ArrayList<byte[]>();
    while (frames.hasNext()) {
      list.add((byte[]) ((Tuple2<?, ?>) frames.next())._2());
    }
    return CollectionConverters.asScala(list.iterator());
  }
}
