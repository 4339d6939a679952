/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.exchange;

import io.sparqr.jvm.ByteBudget;
import io.sparqr.jvm.NamedObjects;
import io.sparqr.spark.engine.Engine;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Values that the driver and tasks of the same JVM hand to each other as they are, by number: no
 * broadcast, no shuffle file, no frame. A repeated task replaces its value. After {@link #close}
 * nothing is held, all bytes are back in the budget, and what a straggler puts is dropped.
 * Thread-safe.
 */
public final class Exchange implements Depot {

  private static final long serialVersionUID = 1;

  private final long key = NamedObjects.ofJvm().newNumber();

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
    NamedObjects.ofJvm().hold(name(key), new Store(budget));
  }

  /** One between an engine's tasks and the driver; empty if they do not share its objects. */
  public static Optional<Exchange> of(Engine engine) {
    return of(engine, new ByteBudget(Long.MAX_VALUE));
  }

  /** The same for values that take room. */
  public static Optional<Exchange> of(Engine engine, ByteBudget budget) {
    return engine.sharesObjects() ? Optional.of(new Exchange(budget)) : Optional.empty();
  }

  /** Leaves a value that takes no room worth counting. */
  public void put(long number, Object value) {
    keep(number, value, 0);
  }

  /** Leaves a value unless there is no room for it; returns whether it is held. */
  public boolean put(long number, Object value, long bytes) {
    return take(bytes) && keep(number, value, bytes);
  }

  private static NamedObjects.Name<Store> name(long key) {
    return new NamedObjects.Name<>(Store.class, key);
  }

  private static Optional<Store> store(long key) {
    return NamedObjects.ofJvm().find(name(key));
  }

  @Override
  public boolean take(long bytes) {
    return store(key).map(store -> store.take(bytes)).orElse(false);
  }

  @Override
  public void giveBack(long bytes) {
    store(key).ifPresent(store -> store.giveBack(bytes));
  }

  @Override
  public boolean keep(long number, Object value, long bytes) {
    return store(key).map(store -> store.keep(number, value, bytes)).orElse(false);
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
    return store(key).map(store -> store.values.get(number)).map(value -> type.cast(value.of));
  }

  /** Whether it takes values: it has not been closed. */
  public boolean isOpen() {
    return store(key).isPresent();
  }

  /** Bytes taken. */
  public long bytes() {
    return store(key).map(Store::taken).orElse(0L);
  }

  /** Number of those open in this JVM. */
  public static int open() {
    return NamedObjects.ofJvm().held(Store.class);
  }

  /** Drops all values; idempotent. */
  @Override
  public void close() {
    NamedObjects.ofJvm().drop(name(key)).ifPresent(Store::close);
  }
}
