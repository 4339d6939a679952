/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.parts;

import io.sparqr.spark.engine.ClassTags;
import io.sparqr.spark.engine.PlannedPlaces;
import io.sparqr.spark.exchange.Depot;
import io.sparqr.spark.internals.QuietRdd;
import java.util.List;
import java.util.Optional;
import org.apache.spark.Partition;
import org.apache.spark.TaskContext;
import org.apache.spark.rdd.RDD;
import org.jspecify.annotations.Nullable;
import scala.collection.Iterator;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The partitions of an RDD for tasks that may find what they need in a {@link Depot}: they are
 * preferred where it was left, and a partition is computed only if its elements are asked for. An
 * RDD of its own because places are a method of the RDD.
 *
 * @param <T> element
 */
final class NearRdd<T> extends QuietRdd<T> {

  private static final long serialVersionUID = 1;

  /** On the driver, if it has preferred places. */
  private final transient @Nullable PlannedPlaces places;

  NearRdd(RDD<T> parent, Optional<PlannedPlaces> places) {
    super(parent, ClassTags.<T>any());
    this.places = places.orElse(null);
  }

  @Override
  public Partition[] getPartitions() {
    return parent().partitions();
  }

  /** Only hints; without one it is Spark that asks the parent. */
  @Override
  public Seq<String> getPreferredLocations(Partition split) {
    List<String> of = places == null ? List.of() : places.of(split.index());
    return CollectionConverters.asScala(of).toSeq();
  }

  @Override
  public Iterator<T> compute(Partition split, TaskContext context) {
    return CollectionConverters.asScala(
        new OnDemand<>(() -> CollectionConverters.asJava(parent().iterator(split, context))));
  }

  private RDD<T> parent() {
    return firstParent(ClassTags.<T>any());
  }
}
