/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.parts;

import io.sparqr.spark.engine.Engine;
import io.sparqr.spark.engine.Held;
import io.sparqr.spark.engine.SparkErrors;
import io.sparqr.spark.exchange.Depot;
import io.sparqr.threads.Parallel;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.IntConsumer;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.storage.StorageLevel;
import org.jspecify.annotations.Nullable;
import scala.Tuple2;

/**
 * Partitions in this JVM: several at a time, each on one thread, without serialization. The results
 * are in the order of the partitions, independent of the threads.
 */
final class LocalParts<T> extends Parts<T> {

  private final int threads;
  private final int count;
  private final IntFunction<Iterator<T>> made;

  /** Drops a partition that is stored; nothing for others. */
  private final IntConsumer forget;

  LocalParts(int threads, int count, IntFunction<Iterator<T>> made) {
    this(threads, count, made, p -> {});
  }

  private LocalParts(int threads, int count, IntFunction<Iterator<T>> made, IntConsumer forget) {
    this.threads = threads;
    this.count = count;
    this.made = made;
    this.forget = forget;
  }

  /** A value computed once, by the first thread that needs it, and releasable. */
  private static final class Once<V> {
    private final IntFunction<V> compute;
    private @Nullable V value;
    private boolean closed;

    Once(IntFunction<V> compute) {
      this.compute = compute;
    }

    synchronized V get(int of) {
      if (closed) {
        throw new IllegalStateException("what was kept is released");
      }
      if (value == null) {
        value = compute.apply(of);
      }
      return value;
    }

    synchronized void close(Consumer<V> ending) {
      closed = true;
      forget(ending);
    }

    synchronized void forget(Consumer<V> ending) {
      if (value != null) {
        ending.accept(value);
        value = null;
      }
    }
  }

  @Override
  Engine engine() {
    return Engine.LOCAL;
  }

  @Override
  public int readers(int threads) {
    return 1;
  }

  @Override
  public long heap() {
    return Runtime.getRuntime().maxMemory();
  }

  @Override
  public <R> R either(Function<JavaRDD<T>, R> rdd, Supplier<R> of) {
    return of.get();
  }

  @Override
  public int count() {
    return count;
  }

  @Override
  public List<List<String>> storedAt() {
    return List.of();
  }

  @Override
  <V extends Serializable, U> Parts<U> with(List<V> given, GivenWork<T, V, U> work) {
    return map((p, elements) -> work.of(elements, given.get(p)));
  }

  @Override
  public <U> Parts<U> map(List<byte[]> frames, Held held, GivenWork<T, byte[], U> work) {
    return map(frames, work);
  }

  @Override
  public <U> Parts<U> map(PartWork<T, U> work) {
    return new LocalParts<>(threads, count, p -> work.of(p, made.apply(p)));
  }

  @Override
  public Parts<Tuple2<Integer, byte[]>> shuffle(
      int keys, PartWork<T, Tuple2<Integer, byte[]>> work) {
    var sent = new Once<List<List<Tuple2<Integer, byte[]>>>>(k -> byKey(k, map(work)));
    return new LocalParts<>(
        threads, keys, k -> sent.get(keys).get(k).iterator(), k -> sent.forget(v -> {}));
  }

  @Override
  public Parts<Tuple2<Integer, byte[]>> handOver(
      int keys, long mostBytes, Held held, PartWork<T, Tuple2<Integer, byte[]>> work) {
    return shuffle(keys, work);
  }

  private static List<List<Tuple2<Integer, byte[]>>> byKey(
      int keys, Parts<Tuple2<Integer, byte[]>> sent) {
    var to = new ArrayList<List<Tuple2<Integer, byte[]>>>();
    for (int k = 0; k < keys; k++) {
      to.add(new ArrayList<>());
    }
    for (Tuple2<Integer, byte[]> t : sent.collect()) {
      to.get(t._1()).add(t);
    }
    return to;
  }

  @Override
  public Optional<long[]> write() {
    if (count > 0) {
      part(0);
    }
    return Optional.empty();
  }

  @Override
  public Parts<T> persist(StorageLevel level, Held held) {
    List<Once<List<T>>> kept = new ArrayList<>();
    for (int p = 0; p < count; p++) {
      var once = new Once<List<T>>(this::part);
      kept.add(once);
      held.onClose(() -> once.close(LocalParts::close));
    }
    return new LocalParts<>(
        threads,
        count,
        p -> kept.get(p).get(p).iterator(),
        p -> kept.get(p).forget(LocalParts::close));
  }

  @Override
  public void release() {
    IntStream.range(0, count).forEach(forget);
  }

  @Override
  public Parts<T> mended(Usable<T> usable) {
    return new LocalParts<>(
        threads,
        count,
        p ->
            new Mended<>(
                usable,
                attempt -> {
                  if (attempt > 0) {
                    forget.accept(p);
                  }
                  return made.apply(p);
                },
                2));
  }

  @Override
  public Parts<T> near(Depot depot, boolean all) {
    return new LocalParts<>(threads, count, p -> new OnDemand<>(() -> made.apply(p)));
  }

  /** Closes what needs it, as Spark does when it drops a partition. */
  private static void close(List<?> dropped) {
    for (Object o : dropped) {
      if (o instanceof AutoCloseable c) {
        try {
          c.close();
        } catch (Exception e) {
          throw SparkErrors.<RuntimeException>sneaky(e);
        }
      }
    }
  }

  @Override
  public Parts<T> named(String name) {
    return this;
  }

  @Override
  public List<T> collect() {
    var all = new ArrayList<T>();
    collect(IntStream.range(0, count).toArray()).forEach(all::addAll);
    return all;
  }

  @Override
  public List<List<T>> collect(int... partitions) {
    var all = new ArrayList<List<T>>(java.util.Collections.nCopies(partitions.length, null));
    Parallel.loop(
        partitions.length,
        1,
        threads,
        (from, to, thread) -> {
          for (int k = from; k < to; k++) {
            all.set(k, part(partitions[k]));
          }
        });
    return all;
  }

  private List<T> part(int p) {
    var list = new ArrayList<T>();
    made.apply(p).forEachRemaining(list::add);
    return list;
  }

  @Override
  public Parts<T> stored(Held held) {
    return this;
  }

  @Override
  public Iterator<T> partition(int p) {
    return made.apply(p);
  }

  @Override
  public JavaRDD<T> rdd() {
    return Engine.LOCAL.context().emptyRDD();
  }
}
