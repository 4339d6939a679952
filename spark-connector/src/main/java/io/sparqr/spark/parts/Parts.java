/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.parts;

import io.sparqr.spark.engine.ClassTags;
import io.sparqr.spark.engine.Engine;
import io.sparqr.spark.engine.Held;
import io.sparqr.spark.exchange.Depot;
import java.io.Serializable;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.function.IntFunction;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.storage.StorageLevel;
import scala.Tuple2;

/**
 * Partitions of elements, computed on demand: an RDD, or its counterpart in this JVM alone. Limited
 * to the operations that a solve needs.
 *
 * @param <T> element
 */
public abstract class Parts<T> {

  Parts() {}

  /** The partitions of an RDD. */
  public static <T> Parts<T> of(JavaRDD<T> rdd) {
    return new SparkParts<>(rdd);
  }

  /**
   * Partitions in this JVM.
   *
   * @param made creates a partition by its number, each time it is needed; called from several
   *     threads
   */
  public static <T> Parts<T> here(int count, IntFunction<Iterator<T>> made) {
    return new LocalParts<>(count, made);
  }

  /** As above, for an engine, all of whose tasks run in this JVM. */
  public static <T> Parts<T> here(Engine engine, int count, PartSource<T> made) {
    return engine.spark()
        ? of(JavaRDD.fromRDD(new HereRdd<>(engine.context().sc(), count, made), ClassTags.any()))
        : here(count, made::of);
  }

  /** Number of partitions. */
  public abstract int count();

  /** The partitions transformed by a function. */
  public abstract <U> Parts<U> map(PartWork<T, U> work);

  /**
   * The partitions transformed by a function that also gets a value.
   *
   * @param given one for each partition; small, since they go with Spark's tasks
   * @throws IllegalArgumentException if there are more or fewer
   */
  public final <V extends Serializable, U> Parts<U> map(List<V> given, GivenWork<T, V, U> work) {
    if (given.size() != count()) {
      throw new IllegalArgumentException(given.size() + " values for " + count() + " partitions");
    }
    return with(given, work);
  }

  /** {@link #map(List, GivenWork)} with as many values as partitions. */
  abstract <V extends Serializable, U> Parts<U> with(List<V> given, GivenWork<T, V, U> work);

  /**
   * Elements by key: partition k has those with key k, those from each partition in the order of
   * their creation. The source partitions are not recomputed.
   *
   * @param keys the largest key + 1
   */
  public abstract Parts<Tuple2<Integer, byte[]>> shuffle(
      int keys, PartWork<T, Tuple2<Integer, byte[]>> work);

  /** Persists the computed elements until {@code held} is closed. */
  public abstract Parts<T> persist(StorageLevel level, Held held);

  /** As above, with a name for Spark's pages. */
  public abstract Parts<T> named(String name);

  /**
   * These elements, for stored ones of which some may have become useless: their partition is no
   * longer stored then, but computed and stored again.
   *
   * @param usable called for each element just before it is taken
   */
  public abstract Parts<T> mended(Usable<T> usable);

  /**
   * These elements, for tasks that may find what they need in a depot instead: made only if they
   * are asked for, preferably where the depot has the value with the partition's number.
   */
  public abstract Parts<T> near(Depot depot);

  /** All elements, by partition. */
  public abstract List<T> collect();

  /** The elements of some partitions. */
  public abstract List<List<T>> collect(int... partitions);

  /**
   * The elements of a partition, in this JVM alone.
   *
   * @throws IllegalStateException if this is Spark
   */
  public abstract Iterator<T> partition(int p);

  /** The partitions' elements, if this JVM has all of them stored as objects; to be closed. */
  public Optional<StoredParts<T>> stored() {
    return Optional.empty();
  }

  /**
   * The RDD.
   *
   * @throws IllegalStateException if this is not Spark
   */
  public abstract JavaRDD<T> rdd();
}
