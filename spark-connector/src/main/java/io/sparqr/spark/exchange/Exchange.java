/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.exchange;

import io.sparqr.spark.engine.ByteBudget;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Values that the driver and tasks of the same JVM hand to each other as they are, by number: no
 * broadcast, no shuffle file, no frame. A repeated task replaces its value. After {@link #close}
 * nothing is held, all bytes are back in the budget, and what a straggler puts is dropped.
 * Thread-safe.
 */
public final class Exchange implements Depot {

  private static final long serialVersionUID = 1;
  private static final Map<Long, Store> OPEN = new ConcurrentHashMap<>();
  private static final AtomicLong NEXT = new AtomicLong();

  private final long key = NEXT.incrementAndGet();

  /**
   * A value.
   *
   * @param bytes taken for it
   */
  private record Value(Object of, long bytes) {}

  /** The values of an open exchange. Its lock keeps a straggler from taking bytes after the end. */
  private static final class Store {
    private final Map<Long, Value> values = new ConcurrentHashMap<>();
    private final ByteBudget budget;
    private long taken;
    private boolean closed;

    Store(ByteBudget budget) {
      this.budget = budget;
    }

    synchronized boolean take(long bytes) {
      if (closed || !budget.take(bytes)) {
        return false;
      }
      taken += bytes;
      return true;
    }

    synchronized void giveBack(long bytes) {
      if (!closed) {
        budget.giveBack(bytes);
        taken -= bytes;
      }
    }

    synchronized boolean keep(long number, Object value, long bytes) {
      if (closed) {
        return false;
      }
      Value before = values.put(number, new Value(value, bytes));
      if (before != null) {
        giveBack(before.bytes);
      }
      return true;
    }

    synchronized long taken() {
      return taken;
    }

    synchronized void close() {
      giveBack(taken);
      closed = true;
      values.clear();
    }
  }

  /** An empty exchange of the driver's JVM. */
  public Exchange() {
    this(new ByteBudget(Long.MAX_VALUE));
  }

  /**
   * As above, for values that take room.
   *
   * @param budget of which their bytes are taken
   */
  public Exchange(ByteBudget budget) {
    OPEN.put(key, new Store(budget));
  }

  /** By which {@link #find(long, long, Class)} finds its values. */
  public long key() {
    return key;
  }

  /** Leaves a value that takes no room worth counting. */
  public void put(long number, Object value) {
    keep(number, value, 0);
  }

  /** Leaves a value unless there is no room for it; returns whether it is held. */
  public boolean put(long number, Object value, long bytes) {
    return take(bytes) && keep(number, value, bytes);
  }

  @Override
  public boolean take(long bytes) {
    Store store = OPEN.get(key);
    return store != null && store.take(bytes);
  }

  @Override
  public void giveBack(long bytes) {
    Store store = OPEN.get(key);
    if (store != null) {
      store.giveBack(bytes);
    }
  }

  @Override
  public boolean keep(long number, Object value, long bytes) {
    Store store = OPEN.get(key);
    return store != null && store.keep(number, value, bytes);
  }

  /**
   * A value.
   *
   * @throws IllegalStateException if there is none
   */
  public <T> T get(long number, Class<T> type) {
    return find(number, type)
        .orElseThrow(
            () -> new IllegalStateException("value " + number + " of an exchange that is closed"));
  }

  @Override
  public <T> Optional<T> find(long number, Class<T> type) {
    return find(key, number, type);
  }

  /** A value of the exchange with a given key. */
  public static <T> Optional<T> find(long key, long number, Class<T> type) {
    Store store = OPEN.get(key);
    return Optional.ofNullable(store == null ? null : store.values.get(number))
        .map(value -> type.cast(value.of));
  }

  /** Whether it takes values: it has not been closed. */
  public boolean isOpen() {
    return OPEN.containsKey(key);
  }

  /** Bytes taken. */
  public long bytes() {
    Store store = OPEN.get(key);
    return store == null ? 0 : store.taken();
  }

  /** Number of those open in this JVM. */
  public static int open() {
    return OPEN.size();
  }

  /** Drops all values; idempotent. */
  @Override
  public void close() {
    Store store = OPEN.remove(key);
    if (store != null) {
      store.close();
    }
  }
}
