/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.exchange;

import io.sparqr.jvm.ByteBudget;
import io.sparqr.spark.internals.SelfSized;
import java.io.Serializable;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A value that stays in the JVM of the task that made it, as a block of Spark's, and its bytes of a
 * room. For Spark it is small, so that the caller's own blocks do not give way to it. If Spark
 * moves the block to another JVM, it is empty there. Thread-safe.
 */
final class Deposit implements AutoCloseable, Serializable, SelfSized {

  private static final long serialVersionUID = 1;

  /** Bytes of this object, about. */
  private static final long SIZE = 64;

  private transient @Nullable Object value;
  private transient long bytes;
  private transient @Nullable ByteBudget room;

  /** Nothing, for deserialization. */
  Deposit() {}

  /**
   * A value.
   *
   * @param bytes taken of the room already, to be given back by {@link #close}
   */
  Deposit(Object value, long bytes, ByteBudget room) {
    this.value = value;
    this.bytes = bytes;
    this.room = room;
  }

  /** The value, unless it was left behind or this is closed. */
  synchronized Optional<Object> value() {
    return Optional.ofNullable(value);
  }

  @Override
  public long estimatedSize() {
    return SIZE;
  }

  /** Gives up the value and its bytes; idempotent. */
  @Override
  public synchronized void close() {
    if (value != null && room != null) {
      room.giveBack(bytes);
      value = null;
    }
  }
}
