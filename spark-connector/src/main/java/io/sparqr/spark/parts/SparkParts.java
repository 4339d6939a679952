/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.parts;

import io.sparqr.spark.engine.ClassTags;
import io.sparqr.spark.engine.CollectJob;
import io.sparqr.spark.engine.Engine;
import io.sparqr.spark.engine.Held;
import io.sparqr.spark.engine.SparkErrors;
import io.sparqr.spark.exchange.Depot;
import io.sparqr.spark.internals.ShuffleWrite;
import io.sparqr.spark.internals.StoredBlocks;
import java.io.Serializable;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.spark.OneToOneDependency;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.storage.StorageLevel;
import scala.Tuple2;

/** The partitions of an RDD. */
class SparkParts<T> extends Parts<T> {

  private final JavaRDD<T> rdd;

  SparkParts(JavaRDD<T> rdd) {
    this.rdd = rdd;
  }

  /** Partitions that this JVM makes, read by its threads or by Spark's tasks in it. */
  private static final class Here<T> extends SparkParts<T> {

    private final Parts<T> made;

    Here(Engine engine, int count, PartSource<T> made) {
      super(JavaRDD.fromRDD(new HereRdd<>(engine.context().sc(), count, made), ClassTags.any()));
      this.made = here(engine.parallelism(), count, made::of);
    }

    @Override
    public List<T> collect() {
      return made.collect();
    }

    @Override
    public List<List<T>> collect(int... partitions) {
      return made.collect(partitions);
    }
  }

  /** What is done with a partition. */
  private interface PartTask<T> extends Serializable {
    void run(int partition, Iterator<T> elements);
  }

  /** Partitions none of whose elements are needed: threads of this JVM can do the work. */
  private static final class Idle<T> extends SparkParts<T> {

    Idle(JavaRDD<T> rdd) {
      super(rdd);
    }

    @Override
    void run(PartTask<T> task) {
      each(here(engine().parallelism(), count(), p -> Collections.<T>emptyIterator()), task);
    }
  }

  /** Does something with each partition, in tasks. */
  void run(PartTask<T> task) {
    each(this, task);
  }

  private static <T> void each(Parts<T> parts, PartTask<T> task) {
    parts
        .<byte[]>map(
            (p, elements) -> {
              task.run(p, elements);
              return Collections.emptyIterator();
            })
        .collect();
  }

  @Override
  Engine engine() {
    return Engine.of(JavaSparkContext.fromSparkContext(rdd.context()));
  }

  @Override
  public int readers(int threads) {
    return threads;
  }

  @Override
  public long heap() {
    return Long.MAX_VALUE;
  }

  @Override
  public <R> R either(Function<JavaRDD<T>, R> of, Supplier<R> here) {
    return of.apply(rdd);
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

  @Override
  public <U> Parts<U> map(List<byte[]> frames, Held held, GivenWork<T, byte[], U> work) {
    var sent = new TaskInput(engine().context(), held, frames);
    return map(sent.elements(), (elements, given) -> work.of(elements, sent.frame(given)));
  }

  /** {@link Parts#grouped}. */
  static <T, U> Parts<U> together(
      List<Parts<T>> sources, List<List<Member>> groups, Held held, GroupWork<T, U> work) {
    List<RDD<T>> rdds = sources.stream().map(s -> s.rdd().rdd()).toList();
    var sent =
        new TaskInput(
            sources.get(0).engine().context(),
            held,
            groups.stream().flatMap(List::stream).map(Member::frame).toList());
    Iterator<byte[]> elements = sent.elements().iterator();
    List<List<Member>> small =
        groups.stream()
            .map(
                group ->
                    group.stream()
                        .map(m -> new Member(m.source(), m.partition(), elements.next()))
                        .toList())
            .toList();
    GroupWork<T, U> whole =
        (members, given) -> work.of(members, given.stream().map(sent::frame).toList());
    var made = new GroupedRdd<>(rdds.get(0).sparkContext(), rdds, small, whole);
    return new SparkParts<>(JavaRDD.fromRDD(made, ClassTags.any()));
  }

  /** Also for what is made of stored partitions one by one. */
  @Override
  public List<List<String>> storedAt() {
    RDD<?> at = rdd.rdd();
    while (at.getStorageLevel().equals(StorageLevel.NONE())) {
      if (at.dependencies().size() != 1
          || !(at.dependencies().head() instanceof OneToOneDependency<?> below)) {
        return List.of();
      }
      at = below.rdd();
    }
    return StoredBlocks.executors(at.id(), count());
  }

  private <U> JavaRDD<U> mapped(PartWork<T, U> work) {
    return JavaRDD.fromRDD(new WorkRdd<>(rdd.rdd(), work), ClassTags.any());
  }

  @Override
  public Parts<Tuple2<Integer, byte[]>> shuffle(
      int keys, PartWork<T, Tuple2<Integer, byte[]>> work) {
    JavaRDD<Tuple2<Integer, byte[]>> sent = mapped(work);
    return new SparkParts<>(JavaRDD.fromRDD(ShuffledFrames.of(sent, keys).rdd(), sent.classTag()));
  }

  @Override
  public Parts<Tuple2<Integer, byte[]>> handOver(
      int keys, long mostBytes, Held held, PartWork<T, Tuple2<Integer, byte[]>> work) {
    Optional<HeldBatches> batches =
        mostBytes > 0 ? HeldBatches.of(engine(), count(), mostBytes) : Optional.empty();
    batches.ifPresent(
        to -> {
          held.onClose(to::close);
          run((p, elements) -> to.put(p, work.of(p, elements)));
        });
    return batches
        .filter(HeldBatches::isOpen)
        .<Parts<Tuple2<Integer, byte[]>>>map(in -> new Here<>(engine(), keys, in::of))
        .orElseGet(() -> shuffle(keys, work));
  }

  @Override
  public Optional<long[]> write() {
    try {
      return ShuffleWrite.run(ShuffledFrames.shuffled(rdd.rdd()));
    } catch (InterruptedException | TimeoutException e) {
      // As Spark's own jobs throw it.
      throw SparkErrors.<RuntimeException>sneaky(e);
    }
  }

  @Override
  public Parts<T> persist(StorageLevel level, Held held) {
    held.persist(rdd, level);
    return this;
  }

  @Override
  public void release() {
    if (!rdd.getStorageLevel().equals(StorageLevel.NONE())) {
      rdd.unpersist(false);
    }
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
  public Parts<T> near(Depot depot, boolean all) {
    var near = new NearRdd<>(rdd.rdd(), depot.places(count()));
    JavaRDD<T> made = JavaRDD.fromRDD(near, ClassTags.any());
    return all ? new Idle<>(made) : new SparkParts<>(made);
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
  public Parts<T> stored(Held held) {
    Optional<StoredParts<T>> found =
        engine().sharesObjects() ? StoredParts.of(rdd) : Optional.empty();
    found.ifPresent(s -> held.onClose(s::close));
    return found.isEmpty() ? this : here(engine().parallelism(), count(), found.get()::partition);
  }

  @Override
  public JavaRDD<T> rdd() {
    return rdd;
  }
}
