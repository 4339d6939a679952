/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.parts;

import io.sparqr.jvm.ByteBudget;
import io.sparqr.jvm.NamedObjects;
import io.sparqr.spark.engine.JobScope;
import io.sparqr.spark.exchange.Exchange;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import scala.Tuple2;

/**
 * Tables left by tasks in the driver's JVM, as they are: one job of one stage, nothing is encoded,
 * sorted or sent. A task leaves what it has found under a number of its own and returns only the
 * number, so that a retry, a speculative copy or a task that failed after this is not mistaken for
 * the one whose result Spark took.
 *
 * @param figures by partition
 * @param tables by partition
 */
record GatheredHere<F extends Record & OfPartition, V>(List<F> figures, List<V> tables)
    implements Gathered<F, V> {

  /** Runs a pass; empty if tables cannot come so, or took more bytes than they may. */
  static <T, F extends Record & OfPartition, V> Optional<Gathered<F, V>> of(
      Gathering<F, V> how, Parts<T> parts, PassWork<T, F, V> work) {
    return Exchange.of(parts.engine(), new ByteBudget(how.limits().tableBytes()))
        .flatMap(left -> of(left, parts, how, work));
  }

  private static <T, F extends Record & OfPartition, V> Optional<Gathered<F, V>> of(
      Exchange exchange, Parts<T> parts, Gathering<F, V> how, PassWork<T, F, V> work) {
    Pieces<V> pieces = how.pieces();
    try (Exchange left = exchange) {
      List<byte[]> receipts =
          JobScope.run(
              parts.engine(),
              how.what(),
              () ->
                  parts
                      .map((p, elements) -> leave(left, pieces, work, p, elements))
                      .named("sparqr " + how.what())
                      .collect());
      if (!left.isOpen()) {
        // Also what was left before is gone.
        return Optional.empty();
      }
      var figures = new ArrayList<F>();
      var tables = new ArrayList<V>();
      for (byte[] receipt : receipts) {
        @SuppressWarnings("unchecked") // left by this pass
        Found<F, V> found = left.get(ByteBuffer.wrap(receipt).getLong(), Found.class);
        figures.add(found.figures());
        tables.add(found.table());
      }
      return Optional.of(new GatheredHere<>(figures, tables));
    }
  }

  /** Once there is no room for all tables, nothing is read any more, and all are given up. */
  private static <T, F extends Record & OfPartition, V> Iterator<byte[]> leave(
      Exchange left, Pieces<V> pieces, PassWork<T, F, V> work, int p, Iterator<T> elements) {
    long number = NamedObjects.ofJvm().newNumber();
    if (left.isOpen()) {
      Found<F, V> found = work.of(p, elements);
      if (!left.put(number, found, pieces.bytes(found.table()))) {
        left.close();
      }
    }
    return List.of(ByteBuffer.allocate(Long.BYTES).putLong(number).array()).iterator();
  }

  @Override
  public <C extends Record> List<C> counts(Class<C> type) {
    return List.of();
  }

  @Override
  public long shuffleBytes() {
    return 0;
  }

  @Override
  public long payload() {
    return 0;
  }

  @Override
  public List<V> tables(Pieces<V> pieces) {
    return tables;
  }

  @Override
  public Parts<Tuple2<Integer, byte[]>> sent() {
    throw new IllegalStateException("nothing was sent: the tables are here");
  }
}
