/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.parts;

import io.sparqr.spark.engine.ClassTags;
import io.sparqr.spark.engine.Numbered;
import io.sparqr.spark.internals.QuietRdd;
import java.util.List;
import org.apache.spark.Dependency;
import org.apache.spark.Partition;
import org.apache.spark.SparkContext;
import org.apache.spark.TaskContext;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/**
 * An RDD without parents, whose partitions are made from what this JVM holds. Tasks can look its
 * partitions up, which those of a parallelized list do not allow.
 *
 * @param <T> element
 */
final class HereRdd<T> extends QuietRdd<T> {

  private static final long serialVersionUID = 1;

  private final int count;
  private final PartSource<T> made;

  HereRdd(SparkContext context, int count, PartSource<T> made) {
    super(
        context,
        CollectionConverters.asScala(List.<Dependency<?>>of()).toSeq(),
        ClassTags.<T>any());
    this.count = count;
    this.made = made;
  }

  @Override
  public Partition[] getPartitions() {
    return Numbered.all(count);
  }

  @Override
  public Iterator<T> compute(Partition split, TaskContext context) {
    return CollectionConverters.asScala(made.of(split.index()));
  }
}
