/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factor;

import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.NarrowDependency;
import org.apache.spark.rdd.RDD;
import scala.Tuple2;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * A dependency on shuffled data: partition i of a level depends on the parent's partitions for task
 * first + i.
 */
public final class FromTask extends NarrowDependency<Tuple2<Integer, byte[]>> {

  private static final long serialVersionUID = 1;
  private final int first;
  private final int each;

  /** With one partition per task. */
  public FromTask(RDD<Tuple2<Integer, byte[]>> parent, int first) {
    this(parent, first, 1);
  }

  /** With several partitions per task. */
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
