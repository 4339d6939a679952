/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.resource;

import java.io.Serializable;
import java.util.Iterator;
import java.util.List;
import java.util.function.IntFunction;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.storage.StorageLevel;
import scala.Tuple2;

/**
 * Partitions of elements, computed when they are asked for: an RDD, or the same in this JVM alone.
 * Has what the solve needs of an RDD and no more.
 *
 * @param <T> element
 */
public abstract class Parts<T> {

  Parts() {}

  /** What is made of a partition. */
  @FunctionalInterface
  public interface Work<T, U> extends Serializable {
    Iterator<U> of(int partition, Iterator<T> elements);
  }

  /** Those of an RDD. */
  public static <T> Parts<T> of(JavaRDD<T> rdd) {
    return new SparkParts<>(rdd);
  }

  /**
   * Those of this JVM.
   *
   * @param made a partition, by its number, as often as it is asked for; from several threads
   */
  public static <T> Parts<T> here(int count, IntFunction<Iterator<T>> made) {
    return new LocalParts<>(count, made);
  }

  /** How many. */
  public abstract int count();

  /** Others made of each. */
  public abstract <U> Parts<U> map(Work<T, U> work);

  /**
   * Elements by key: partition k has those whose key is k, from each partition in the order in
   * which they were made. Those who made them are not asked twice.
   *
   * @param keys one more than the largest key
   */
  public abstract Parts<Tuple2<Integer, byte[]>> shuffle(
      int keys, Work<T, Tuple2<Integer, byte[]>> work);

  /** Keeps what is computed, until that is closed. */
  public abstract Parts<T> persist(StorageLevel level, Held held);

  /** The same by a name, for Spark's pages. */
  public abstract Parts<T> named(String name);

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
   * The RDD.
   *
   * @throws IllegalStateException if this is not Spark
   */
  public abstract JavaRDD<T> rdd();
}
