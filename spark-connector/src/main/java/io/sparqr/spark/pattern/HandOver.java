/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.pattern;

import io.sparqr.spark.engine.ByteBudget;
import io.sparqr.spark.exchange.Exchange;
import java.io.Serializable;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What the tasks of a pattern pass found, handed to the driver within one JVM as it is, without
 * frames. A task leaves its tables here under a number of its own and returns only the number, so
 * that a retry, a speculative copy or a task that failed after this is not mistaken for the one
 * whose result Spark took. Holds at most a given number of bytes; once more was to be left it holds
 * nothing and is of no more use. After {@link #close} nothing is held and nothing is accepted, not
 * even from tasks of a cancelled job that still run. Thread-safe.
 */
final class HandOver implements AutoCloseable, Serializable {

  private static final long serialVersionUID = 1;

  /** In place of a number: it was not accepted. */
  static final long REFUSED = -1;

  private static final AtomicLong NEXT = new AtomicLong();

  private final Exchange exchange;

  /**
   * What a task found.
   *
   * @param patterns none if they are not distinguished
   * @param norms of the columns
   */
  record Found(DistinctPatterns patterns, ColumnChunks norms) {}

  /** Accepts up to this many bytes until it is closed. */
  HandOver(long mostBytes) {
    this.exchange = new Exchange(new ByteBudget(mostBytes));
  }

  /** Leaves what a task found; returns its number, or {@link #REFUSED}. */
  long put(Found found) {
    long number = NEXT.incrementAndGet();
    if (!exchange.put(number, found, found.patterns.bytes() + found.norms.bytes())) {
      close();
      return REFUSED;
    }
    return number;
  }

  /** Whether it accepts nothing more, because more was to be left than it holds, or at its end. */
  boolean over() {
    return !exchange.isOpen();
  }

  /**
   * What was left under a number.
   *
   * @throws IllegalStateException if there is nothing
   */
  Found get(long number) {
    return exchange.get(number, Found.class);
  }

  @Override
  public void close() {
    exchange.close();
  }
}
