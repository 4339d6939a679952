/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.parts;

import io.sparqr.spark.engine.Engine;
import io.sparqr.spark.engine.Held;
import io.sparqr.spark.exchange.Depot;
import java.io.Serializable;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.Supplier;
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
    return here(Engine.LOCAL.parallelism(), count, made);
  }

  /** The same, so many of them at a time. */
  public static <T> Parts<T> here(int threads, int count, IntFunction<Iterator<T>> made) {
    return new LocalParts<>(threads, count, made);
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

  /**
   * The same for frames of any size.
   *
   * @param held releases those that are too long to go with a task
   */
  public abstract <U> Parts<U> map(List<byte[]> frames, Held held, GivenWork<T, byte[], U> work);

  /**
   * A partition of a source, as a member of a group.
   *
   * @param source index of the source
   * @param partition its partition
   * @param frame what the work gets with it, of any size
   */
  public record Member(int source, int partition, byte[] frame) {}

  /**
   * Partitions each of which is made of several partitions, in one task where they are stored.
   *
   * @param sources of one engine, which is Spark
   * @param groups of each new partition its members, at least one
   * @param held releases the frames that are too long to go with a task
   * @throws IllegalStateException if this is not Spark
   */
  public static <T, U> Parts<U> grouped(
      List<Parts<T>> sources, List<List<Member>> groups, Held held, GroupWork<T, U> work) {
    return SparkParts.together(sources, groups, held, work);
  }

  /**
   * The executors that store each partition, by Spark's ids, as it is now; no list at all if the
   * elements are not stored by Spark.
   */
  public abstract List<List<String>> storedAt();

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

  /**
   * {@link #shuffle} for elements that are read soon, and not again once {@code held} is closed:
   * where tasks share this JVM's objects the elements stay in it, unless they are too many.
   *
   * @param mostBytes of the elements in this JVM; 0: they go by a shuffle
   */
  public abstract Parts<Tuple2<Integer, byte[]>> handOver(
      int keys, long mostBytes, Held held, PartWork<T, Tuple2<Integer, byte[]>> work);

  /** The engine of the tasks. */
  abstract Engine engine();

  /**
   * How many of a task's threads can share the reading of what is shuffled to it: those of Spark
   * fetch and decompress it, those of this JVM alone have it as it is.
   */
  public abstract int readers(int threads);

  /**
   * Bytes of the heap that has to hold what is persisted; {@link Long#MAX_VALUE} with Spark, which
   * writes to disk what does not fit.
   */
  public abstract long heap();

  /** What is made of an RDD, or of its counterpart in this JVM alone. */
  public abstract <R> R either(Function<JavaRDD<T>, R> rdd, Supplier<R> here);

  /**
   * Writes what {@link #shuffle} has been asked for, before anybody reads it.
   *
   * @return bytes of each partition, 0 only for those without an element; empty if they are not
   *     known
   */
  public abstract Optional<long[]> write();

  /** Persists the computed elements until {@code held} is closed. */
  public abstract Parts<T> persist(StorageLevel level, Held held);

  /**
   * No longer stores the elements, before their owner is closed. Who asks for them later has them
   * computed again.
   */
  public abstract void release();

  /** The same with a name for Spark's pages. */
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
   *
   * @param all whether all of them will find it, in this JVM
   */
  public abstract Parts<T> near(Depot depot, boolean all);

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

  /**
   * The same elements; if this JVM has all of them stored as objects, they are read there by its
   * threads, without a job, until {@code held} is closed.
   */
  public abstract Parts<T> stored(Held held);

  /**
   * The RDD.
   *
   * @throws IllegalStateException if this is not Spark
   */
  public abstract JavaRDD<T> rdd();
}
