/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.rows;

import io.sparqr.configuration.Keys;
import io.sparqr.spark.plan.Fingerprint;
import io.sparqr.spark.plan.Readings;
import io.sparqr.spark.resource.Engine;
import io.sparqr.spark.resource.Exchange;
import java.io.Serializable;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Rows that the first reading leaves in the JVM in which all tasks run, so that they need not be
 * read again to be sent to the tasks of their fronts. Partitions beyond a limit are read again, as
 * all are without this. Each carries the fingerprint of its reading: what a straggler left of
 * another reading than the one that counts is not used. Thread-safe.
 */
public final class HeldRows implements AutoCloseable, Serializable {

  private static final long serialVersionUID = 1;
  private static final Map<Long, Store> OPEN = new ConcurrentHashMap<>();
  private static final AtomicLong NEXT = new AtomicLong();

  private final long key = NEXT.incrementAndGet();

  /**
   * The rows by partition.
   *
   * @param bytes held or being collected
   */
  private record Store(Map<Integer, ParsedRows> rows, AtomicLong bytes, long mostBytes) {

    boolean take(long more) {
      if (bytes.addAndGet(more) <= mostBytes) {
        return true;
      }
      bytes.addAndGet(-more);
      return false;
    }
  }

  /** Holds up to so many bytes, until it is closed. */
  HeldRows(long mostBytes) {
    OPEN.put(key, new Store(new ConcurrentHashMap<>(), new AtomicLong(), mostBytes));
  }

  /**
   * A place for rows, of the share of the heap that copies of rows may take ({@link
   * Keys#ROW_COPY_SHARE}); empty if tasks do not run in this JVM, or that share is 0.
   */
  public static Optional<HeldRows> of(Engine engine) {
    double most = Keys.ROW_COPY_SHARE.ofJvm() * Runtime.getRuntime().maxMemory();
    return most > 0 && Exchange.possible(engine)
        ? Optional.of(new HeldRows((long) most))
        : Optional.empty();
  }

  /** Collects the rows of a partition while they are read. Not thread-safe. */
  public Collector collector(int partition) {
    return new Collector(partition);
  }

  /** Rows of a partition on their way here. */
  public final class Collector {
    private final int partition;
    private final Store store;
    private final ParsedRows.Builder rows;

    private Collector(int partition) {
      this.partition = partition;
      this.store = OPEN.get(key);
      this.rows = new ParsedRows.Builder(more -> store != null && store.take(more));
    }

    /** Adds the reader's row. */
    public void add(RowReader reader) {
      rows.add(reader);
    }

    /**
     * Leaves the rows, unless there was no room for all.
     *
     * @param fingerprint of their reading
     */
    public void leave(Fingerprint fingerprint) {
      if (store == null) {
        return;
      }
      if (!rows.complete()) {
        store.bytes.addAndGet(-rows.bytes());
        return;
      }
      ParsedRows before = store.rows.put(partition, rows.rows(fingerprint));
      if (before != null) {
        store.bytes.addAndGet(-before.bytes());
      }
    }
  }

  /** The rows of a partition, if they are held and of the reading that counts. */
  Optional<ParsedRows> rows(int partition, Readings readings) {
    Store store = OPEN.get(key);
    return Optional.ofNullable(store == null ? null : store.rows.get(partition))
        .filter(r -> readings.change(partition, r.fingerprint(), true).isEmpty());
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
