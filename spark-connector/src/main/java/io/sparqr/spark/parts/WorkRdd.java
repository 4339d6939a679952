/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.parts;

import io.sparqr.spark.engine.ClassTags;
import io.sparqr.spark.internals.QuietRdd;
import org.apache.spark.Partition;
import org.apache.spark.TaskContext;
import org.apache.spark.rdd.RDD;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/**
 * An RDD whose partitions are transformed by a function, as {@code mapPartitionsWithIndex} makes
 * it. That takes two milliseconds on the driver each time, in which Spark reads class files for
 * what Scala's closures may have captured; a solve makes half a dozen.
 *
 * @param <T> element of the parent
 * @param <U> element
 */
final class WorkRdd<T, U> extends QuietRdd<U> {

  private static final long serialVersionUID = 1;

  private final PartWork<T, U> work;

  WorkRdd(RDD<T> parent, PartWork<T, U> work) {
    super(parent, ClassTags.<U>any());
    this.work = work;
  }

  @Override
  public Partition[] getPartitions() {
    return parent().partitions();
  }

  @Override
  public Iterator<U> compute(Partition split, TaskContext context) {
    return CollectionConverters.asScala(
        work.of(split.index(), CollectionConverters.asJava(parent().iterator(split, context))));
  }

  private RDD<T> parent() {
    return firstParent(ClassTags.<T>any());
  }
}
