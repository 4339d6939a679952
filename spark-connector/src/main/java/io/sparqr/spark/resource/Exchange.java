/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.resource;

import io.sparqr.spark.plan.PlanHandle;
import java.io.Serializable;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Values that the driver and tasks of the same JVM hand to each other as they are, by number: no
 * broadcast, no shuffle file, no frame. A repeated task replaces its value; what a straggler puts
 * after {@link #close} is dropped. Thread-safe.
 */
public final class Exchange implements AutoCloseable, Serializable {

  private static final long serialVersionUID = 1;
  private static final Map<String, Map<Integer, Object>> OPEN = new ConcurrentHashMap<>();

  private final String key = UUID.randomUUID().toString();

  /** An empty exchange of the driver's JVM. */
  public Exchange() {
    OPEN.put(key, new ConcurrentHashMap<>());
  }

  /** Whether all of an engine's tasks run in this JVM, with this very class. */
  public static boolean possible(Engine engine) {
    return !engine.spark() || engine.oneJvm() && PlanHandle.tasksShareClasses();
  }

  /** Leaves a value. */
  public void put(int number, Object value) {
    Map<Integer, Object> values = OPEN.get(key);
    if (values != null) {
      values.put(number, value);
    }
  }

  /**
   * A value.
   *
   * @throws IllegalStateException if there is none
   */
  public <T> T get(int number, Class<T> type) {
    Map<Integer, Object> values = OPEN.get(key);
    Object value = values == null ? null : values.get(number);
    if (value == null) {
      throw new IllegalStateException("value " + number + " of an exchange that is closed");
    }
    return type.cast(value);
  }

  /** Drops all values. */
  @Override
  public void close() {
    OPEN.remove(key);
  }
}
