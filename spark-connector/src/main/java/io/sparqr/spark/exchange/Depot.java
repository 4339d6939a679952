/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.exchange;

import io.sparqr.jvm.ByteBudget;
import io.sparqr.spark.engine.Engine;
import io.sparqr.spark.engine.PlannedPlaces;
import java.io.Serializable;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Where tasks leave values for later tasks in the same JVM, by number, as far as its room for them
 * goes. Nothing may depend on a value being there. Thread-safe.
 */
public interface Depot extends AutoCloseable, Serializable {

  /** A room that each JVM has for itself. */
  @FunctionalInterface
  interface Room extends Supplier<ByteBudget>, Serializable {}

  /**
   * A depot for an engine's tasks; empty if their JVMs cannot have one, or there is no room.
   *
   * @param name for Spark's pages
   * @param room of each JVM
   */
  static Optional<Depot> of(Engine engine, String name, Room room) {
    if (ExecutorDepot.possible(engine)) {
      return Optional.of(new ExecutorDepot(engine.context(), name, room));
    }
    return room.get().most() > 0
        ? Exchange.of(engine, room.get()).map(Depot.class::cast)
        : Optional.empty();
  }

  /** Takes bytes for a value that is being made; false if there is no room. */
  boolean take(long bytes);

  /** Gives back bytes taken for a value that was not made. */
  void giveBack(long bytes);

  /**
   * Leaves a value whose bytes are taken already. They are no longer the caller's, even if the
   * value is not held.
   *
   * @return whether it is held
   */
  boolean keep(long number, Object value, long bytes);

  /** A value, if it is held in this JVM. */
  <T> Optional<T> find(long number, Class<T> type);

  /**
   * Where tasks find what earlier ones have left; empty if all JVMs are one.
   *
   * @param count of values, numbered from 0 on
   */
  default Optional<PlannedPlaces> places(int count) {
    return Optional.empty();
  }

  /** Drops all values, on the driver; idempotent. */
  @Override
  void close();
}
