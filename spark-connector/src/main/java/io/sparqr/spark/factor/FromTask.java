/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factor;

import java.util.List;
import org.apache.spark.NarrowDependency;
import org.apache.spark.rdd.RDD;
import scala.Tuple2;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/** Partition i of a level comes from the parent's partition first + i: shuffled data by task. */
public final class FromTask extends NarrowDependency<Tuple2<Integer, byte[]>> {

  private static final long serialVersionUID = 1;
  private final int first;

  public FromTask(RDD<Tuple2<Integer, byte[]>> parent, int first) {
    super(parent);
    this.first = first;
  }

  @Override
  public Seq<Object> getParents(int partitionId) {
    return CollectionConverters.asScala(List.<Object>of(first + partitionId)).toSeq();
  }
}
