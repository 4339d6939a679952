/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factor;

import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.NarrowDependency;
import org.apache.spark.rdd.RDD;
import scala.Tuple2;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/** Partition i of a level comes from the parent's partitions of task first + i: shuffled data. */
public final class FromTask extends NarrowDependency<Tuple2<Integer, byte[]>> {

  private static final long serialVersionUID = 1;
  private final int first;
  private final int each;

  /** A partition a task. */
  public FromTask(RDD<Tuple2<Integer, byte[]>> parent, int first) {
    this(parent, first, 1);
  }

  /** Several. */
  FromTask(RDD<Tuple2<Integer, byte[]>> parent, int first, int each) {
    super(parent);
    this.first = first;
    this.each = each;
  }

  @Override
  public Seq<Object> getParents(int partitionId) {
    int from = (first + partitionId) * each;
    List<Object> parents = IntStream.range(from, from + each).mapToObj(k -> (Object) k).toList();
    return CollectionConverters.asScala(parents).toSeq();
  }
}
