/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.parts;

import io.sparqr.spark.engine.ClassTags;
import io.sparqr.spark.engine.CollectJob;
import io.sparqr.spark.engine.Engine;
import io.sparqr.spark.engine.Held;
import io.sparqr.spark.engine.KeyPartitioner;
import io.sparqr.spark.exchange.Depot;
import java.io.Serializable;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.storage.StorageLevel;
import scala.Tuple2;

/** The partitions of an RDD. */
final class SparkParts<T> extends Parts<T> {

  private final JavaRDD<T> rdd;

  SparkParts(JavaRDD<T> rdd) {
    this.rdd = rdd;
  }

  @Override
  Engine engine() {
    return Engine.of(JavaSparkContext.fromSparkContext(rdd.context()));
  }

  @Override
  public int count() {
    return rdd.getNumPartitions();
  }

  @Override
  public <U> Parts<U> map(PartWork<T, U> work) {
    return new SparkParts<>(mapped(work));
  }

  @Override
  <V extends Serializable, U> Parts<U> with(List<V> given, GivenWork<T, V, U> work) {
    var made = new GivenRdd<>(rdd.rdd(), given, work);
    return new SparkParts<>(JavaRDD.fromRDD(made, ClassTags.any()));
  }

  private <U> JavaRDD<U> mapped(PartWork<T, U> work) {
    return JavaRDD.fromRDD(new WorkRdd<>(rdd.rdd(), work), ClassTags.any());
  }

  @Override
  public Parts<Tuple2<Integer, byte[]>> shuffle(
      int keys, PartWork<T, Tuple2<Integer, byte[]>> work) {
    JavaRDD<Tuple2<Integer, byte[]>> sent = mapped(work);
    JavaPairRDD<Integer, byte[]> pairs =
        JavaPairRDD.fromJavaRDD(sent).partitionBy(new KeyPartitioner(keys));
    return new SparkParts<>(JavaRDD.fromRDD(pairs.rdd(), sent.classTag()));
  }

  @Override
  public Parts<T> persist(StorageLevel level, Held held) {
    held.persist(rdd, level);
    return this;
  }

  @Override
  public Parts<T> named(String name) {
    rdd.setName(name);
    return this;
  }

  @Override
  public Parts<T> mended(Usable<T> usable) {
    return new SparkParts<>(JavaRDD.fromRDD(new MendedRdd<>(rdd.rdd(), usable), ClassTags.any()));
  }

  @Override
  public Parts<T> near(Depot depot) {
    var near = new NearRdd<>(rdd.rdd(), depot.places(count()));
    return new SparkParts<>(JavaRDD.fromRDD(near, ClassTags.any()));
  }

  @Override
  public List<T> collect() {
    return CollectJob.all(rdd.rdd());
  }

  @Override
  public List<List<T>> collect(int... partitions) {
    return CollectJob.of(rdd.rdd(), partitions);
  }

  @Override
  public Iterator<T> partition(int p) {
    throw new IllegalStateException("a partition of Spark's is asked for by its tasks");
  }

  @Override
  public Optional<StoredParts<T>> stored() {
    return StoredParts.of(rdd);
  }

  @Override
  public JavaRDD<T> rdd() {
    return rdd;
  }
}
