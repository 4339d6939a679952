/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.rows;

import io.sparqr.spark.resource.ByteBudget;
import io.sparqr.spark.resource.Exchange;
import io.sparqr.spark.wire.Frame;
import io.sparqr.spark.wire.TicketCodec;
import java.io.Serializable;
import java.util.Iterator;
import scala.Tuple2;

/**
 * Batches of rows that stay in the JVM in which both ends of a shuffle run: Spark sends a ticket in
 * place of a batch, so that rows are not compressed, written to disk, read and decompressed on
 * their way from one thread to another. Batches beyond a limit go by the shuffle, as all do without
 * this. Their sequence, and what is computed from them, is the same either way. A repeated task
 * replaces its batches by equal ones. Thread-safe.
 */
public final class HeldBatches implements AutoCloseable, Serializable {

  private static final long serialVersionUID = 1;

  /** The batches by {@link TicketCodec#place}. */
  private final Exchange exchange;

  /** Holds up to so many bytes, until it is closed. */
  public HeldBatches(long mostBytes) {
    this.exchange = new Exchange(new ByteBudget(mostBytes));
  }

  /** The elements of a shuffle with tickets in place of batches. */
  public Iterator<Tuple2<Integer, byte[]>> sent(Iterator<Tuple2<Integer, byte[]>> elements) {
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        return elements.hasNext();
      }

      @Override
      public Tuple2<Integer, byte[]> next() {
        Tuple2<Integer, byte[]> t = elements.next();
        return new Tuple2<>(t._1(), sent(t._2()));
      }
    };
  }

  private byte[] sent(byte[] frame) {
    return Frame.kind(frame) == Frame.Kind.ROWS
            && exchange.put(TicketCodec.place(frame), frame, frame.length)
        ? TicketCodec.encode(exchange.key(), frame)
        : frame;
  }

  /**
   * What a frame stands for: the batch of a ticket, or itself.
   *
   * @throws IllegalStateException if the batches were dropped, because nobody was to need them
   */
  public static byte[] received(byte[] frame) {
    if (Frame.kind(frame) != Frame.Kind.TICKET) {
      return frame;
    }
    return Exchange.find(TicketCodec.key(frame), TicketCodec.place(frame), byte[].class)
        .orElseThrow(() -> new IllegalStateException("a batch of rows that is no longer held"));
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
