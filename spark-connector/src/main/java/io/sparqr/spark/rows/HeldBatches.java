/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.rows;

import io.sparqr.spark.wire.Frame;
import io.sparqr.spark.wire.TicketCodec;
import java.io.Serializable;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
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
  private static final Map<Long, Store> OPEN = new ConcurrentHashMap<>();
  private static final AtomicLong NEXT = new AtomicLong();

  private final long key = NEXT.incrementAndGet();

  /**
   * The batches, by partition and number in it.
   *
   * @param bytes held
   */
  private record Store(Map<Long, byte[]> batches, AtomicLong bytes, long mostBytes) {}

  /** Holds up to so many bytes, until it is closed. */
  public HeldBatches(long mostBytes) {
    OPEN.put(key, new Store(new ConcurrentHashMap<>(), new AtomicLong(), mostBytes));
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
    Store store = OPEN.get(key);
    if (store == null || Frame.kind(frame) != Frame.Kind.ROWS) {
      return frame;
    }
    if (store.bytes.addAndGet(frame.length) > store.mostBytes) {
      store.bytes.addAndGet(-frame.length);
      return frame;
    }
    byte[] before = store.batches.put(TicketCodec.place(frame), frame);
    if (before != null) {
      store.bytes.addAndGet(-before.length);
    }
    return TicketCodec.encode(key, frame);
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
    Store store = OPEN.get(TicketCodec.key(frame));
    byte[] batch = store == null ? null : store.batches.get(TicketCodec.place(frame));
    if (batch == null) {
      throw new IllegalStateException("a batch of rows that is no longer held");
    }
    return batch;
  }

  /** Bytes held. */
  long bytes() {
    Store store = OPEN.get(key);
    return store == null ? 0 : store.bytes.get();
  }

  /** Number of those open in this JVM. */
  static int open() {
    return OPEN.size();
  }

  /** Drops all; idempotent. */
  @Override
  public void close() {
    OPEN.remove(key);
  }
}
