/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.parts;

import io.sparqr.jvm.ByteBudget;
import io.sparqr.spark.engine.Engine;
import io.sparqr.spark.exchange.Exchange;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import scala.Tuple2;

/**
 * Batches on their way between threads of one JVM, without a shuffle: those of a partition are put
 * here by key, and a task takes those with its key, in the order in which a shuffle would bring
 * them. Holds at most a given number of bytes; once more was to be put it holds nothing and is of
 * no more use. A repeated task replaces its batches by equal ones. Thread-safe.
 */
final class HeldBatches implements AutoCloseable, Serializable {

  private static final long serialVersionUID = 2;

  private final int partitions;

  /** What each partition sends. */
  private final Exchange exchange;

  /** Batches by key, in the order of their creation. */
  private record Sent(Map<Integer, List<Tuple2<Integer, byte[]>>> byKey) {}

  /**
   * Holds batches until it is closed.
   *
   * @param partitions from which they come
   * @param mostBytes of all batches
   */
  HeldBatches(int partitions, long mostBytes) {
    this(partitions, new Exchange(new ByteBudget(mostBytes)));
  }

  private HeldBatches(int partitions, Exchange exchange) {
    this.partitions = partitions;
    this.exchange = exchange;
  }

  /** The same for tasks of an engine; empty if they do not share this JVM's objects. */
  static Optional<HeldBatches> of(Engine engine, int partitions, long mostBytes) {
    return Exchange.of(engine, new ByteBudget(mostBytes)).map(e -> new HeldBatches(partitions, e));
  }

  /** Puts what a partition sends; ends early if there is no room for it. */
  void put(int partition, Iterator<Tuple2<Integer, byte[]>> elements) {
    var byKey = new TreeMap<Integer, List<Tuple2<Integer, byte[]>>>();
    long bytes = 0;
    try {
      while (isOpen() && elements.hasNext()) {
        Tuple2<Integer, byte[]> t = elements.next();
        if (!exchange.take(t._2().length)) {
          close();
          return;
        }
        bytes += t._2().length;
        byKey.computeIfAbsent(t._1(), k -> new ArrayList<>()).add(t);
      }
      exchange.keep(partition, new Sent(byKey), bytes);
      bytes = 0;
    } finally {
      exchange.giveBack(bytes);
    }
  }

  /**
   * What all partitions have sent for a key, in their order.
   *
   * @throws IllegalStateException if nothing is held any more, because it was not to be needed
   *     again
   */
  Iterator<Tuple2<Integer, byte[]>> of(int key) {
    Stream.Builder<List<Tuple2<Integer, byte[]>>> all = Stream.builder();
    for (int p = 0; p < partitions; p++) {
      all.add(exchange.get(p, Sent.class).byKey.getOrDefault(key, List.of()));
    }
    return all.build().flatMap(List::stream).iterator();
  }

  /** Whether there was room for all so far, and it has not been closed. */
  boolean isOpen() {
    return exchange.isOpen();
  }

  /** Bytes held. */
  long bytes() {
    return exchange.bytes();
  }

  /** Drops all; idempotent. */
  @Override
  public void close() {
    exchange.close();
  }
}
