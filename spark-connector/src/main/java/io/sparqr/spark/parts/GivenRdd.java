/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.parts;

import io.sparqr.spark.engine.ClassTags;
import io.sparqr.spark.internals.QuietRdd;
import java.io.Serializable;
import java.util.List;
import org.apache.spark.Partition;
import org.apache.spark.TaskContext;
import org.apache.spark.rdd.RDD;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/**
 * An RDD whose partitions are transformed by a function of their elements and of a value that goes
 * with the partition to its task. The same as zipping with an RDD of these values, without the
 * milliseconds that this takes on the driver ({@link WorkRdd}).
 *
 * @param <T> element of the parent
 * @param <V> value
 * @param <U> element
 */
final class GivenRdd<T, V extends Serializable, U> extends QuietRdd<U> {

  private static final long serialVersionUID = 1;

  private final transient List<V> given;
  private final GivenWork<T, V, U> work;

  /** With a value for each of the parent's partitions. */
  GivenRdd(RDD<T> parent, List<V> given, GivenWork<T, V, U> work) {
    super(parent, ClassTags.<U>any());
    this.given = given;
    this.work = work;
  }

  /** A partition of the parent and its value. */
  private record Given<V extends Serializable>(Partition of, V value) implements Partition {

    private static final long serialVersionUID = 1;

    @Override
    public int index() {
      return of.index();
    }
  }

  @Override
  public Partition[] getPartitions() {
    Partition[] parts = parent().partitions().clone();
    for (int p = 0; p < parts.length; p++) {
      parts[p] = new Given<>(parts[p], given.get(p));
    }
    return parts;
  }

  @Override
  @SuppressWarnings("unchecked") // made by getPartitions
  public Iterator<U> compute(Partition split, TaskContext context) {
    var part = (Given<V>) split;
    return CollectionConverters.asScala(
        work.of(CollectionConverters.asJava(parent().iterator(part.of, context)), part.value));
  }

  private RDD<T> parent() {
    return firstParent(ClassTags.<T>any());
  }
}
