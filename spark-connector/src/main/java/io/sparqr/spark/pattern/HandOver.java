/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.pattern;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What the tasks of a pattern pass found, handed to the driver within one JVM as it is, without
 * frames. A task leaves its tables here under a number of its own and returns only the number, so
 * that a retry, a speculative copy or a task that failed after this is not mistaken for the one
 * whose result Spark took. Holds at most a given number of bytes; once they are exceeded it is full
 * and of no more use. After {@link #close} nothing is held and nothing is accepted, not even from
 * tasks of a cancelled job that still run. Thread-safe.
 */
final class HandOver implements AutoCloseable {

  /** In place of a number: it was not accepted. */
  static final long REFUSED = -1;

  private static final Map<Long, HandOver> OPEN = new ConcurrentHashMap<>();
  private static final AtomicLong NEXT = new AtomicLong();

  private final long key = NEXT.incrementAndGet();
  private final long mostBytes;
  private final AtomicLong bytes = new AtomicLong();
  private final AtomicLong count = new AtomicLong();
  private final Map<Long, Found> held = new ConcurrentHashMap<>();

  /**
   * What a task found.
   *
   * @param patterns none if they are not told apart
   * @param norms of the columns
   */
  record Found(DistinctPatterns patterns, ColumnChunks norms) {}

  /** Accepts up to so many bytes until it is closed. */
  HandOver(long mostBytes) {
    this.mostBytes = mostBytes;
    OPEN.put(key, this);
  }

  /** By which tasks find it. */
  long key() {
    return key;
  }

  /** Whether a task need not begin, because what it finds would be refused. */
  static boolean over(long key) {
    HandOver open = OPEN.get(key);
    return open == null || open.full();
  }

  /** Leaves what a task found; returns its number, or {@link #REFUSED}. */
  static long put(long key, Found found) {
    HandOver open = OPEN.get(key);
    return open == null ? REFUSED : open.put(found);
  }

  private long put(Found found) {
    bytes.addAndGet(found.patterns.bytes() + found.norms.bytes());
    count.addAndGet(found.patterns.count());
    if (full()) {
      held.clear();
      return REFUSED;
    }
    long number = NEXT.incrementAndGet();
    held.put(number, found);
    return number;
  }

  /** Whether more was to be left than it holds; then nothing is left. */
  boolean full() {
    return bytes.get() > mostBytes || count.get() > Integer.MAX_VALUE - 8;
  }

  /**
   * Takes what was left under a number.
   *
   * @throws IllegalStateException if there is nothing
   */
  Found take(long number) {
    Found found = held.remove(number);
    if (found == null) {
      throw new IllegalStateException("nothing was handed over under number " + number);
    }
    return found;
  }

  /** Number of passes that are open in this JVM. */
  static int open() {
    return OPEN.size();
  }

  @Override
  public void close() {
    OPEN.remove(key);
    held.clear();
  }
}
