/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.parts;

import io.sparqr.spark.engine.ClassTags;
import io.sparqr.spark.internals.QuietRdd;
import io.sparqr.spark.internals.StoredBlocks;
import org.apache.spark.Partition;
import org.apache.spark.TaskContext;
import org.apache.spark.rdd.RDD;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The partitions of a persisted RDD. One with an element that has become useless is computed again
 * by the task that finds out, from the shuffle files that it was computed from, and stored again;
 * Spark alone would not do so, because for it a stored partition is there. An RDD of its own
 * because only such a one can ask its parent for a partition computed, not stored.
 *
 * @param <T> element
 */
final class MendedRdd<T> extends QuietRdd<T> {

  private static final long serialVersionUID = 1;

  /** As stored; stored again; computed again without looking for what others have stored. */
  private static final int ATTEMPTS = 3;

  private final Usable<T> usable;

  MendedRdd(RDD<T> stored, Usable<T> usable) {
    super(stored, ClassTags.<T>any());
    this.usable = usable;
  }

  @Override
  public Partition[] getPartitions() {
    return parent().partitions();
  }

  @Override
  public Iterator<T> compute(Partition split, TaskContext context) {
    return CollectionConverters.asScala(
        new Mended<>(usable, k -> attempt(k, split, context), ATTEMPTS));
  }

  private java.util.Iterator<T> attempt(int k, Partition split, TaskContext context) {
    if (k > 0) {
      StoredBlocks.removeEverywhere(parent().id(), split.index());
    }
    return CollectionConverters.asJava(
        k < ATTEMPTS - 1 ? parent().iterator(split, context) : parent().compute(split, context));
  }

  private RDD<T> parent() {
    return firstParent(ClassTags.<T>any());
  }
}
