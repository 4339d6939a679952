/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.jvm;

import java.util.Deque;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import org.jspecify.annotations.Nullable;

/**
 * The one owner of what this JVM has once and what changes: tasks are deserialized copies and find
 * here what they share. Its parts are made when they are first used, by the typed keys of the
 * classes that use them ({@link JvmPart}). Whether a solve has left anything behind is one question
 * ({@link #held}), and a test may work with a state of its own ({@link #fresh}). Thread-safe.
 *
 * <p>If a class loader loads our classes a second time, as Spark Connect does, its copy has a state
 * of its own.
 */
public final class JvmState implements AutoCloseable {

  /** The only static variable of the product. */
  private static volatile JvmState current = new JvmState(null);

  private final Map<JvmPart<?>, Object> parts = new ConcurrentHashMap<>();

  /** The keys in the order in which the parts were made, newest first. */
  private final Deque<JvmPart<?>> newest = new ConcurrentLinkedDeque<>();

  /** The state that this one stands in for; the first of the JVM has none. */
  private final @Nullable JvmState before;

  private JvmState(@Nullable JvmState before) {
    this.before = before;
  }

  /** The state of this JVM. */
  public static JvmState current() {
    return current;
  }

  /**
   * A new state without parts, which stands in for the present one until it is closed. For tests:
   * nothing of ours may run in this JVM when it begins or ends.
   */
  public static JvmState fresh() {
    synchronized (JvmState.class) {
      current = new JvmState(current);
      return current;
    }
  }

  /** The part with a key, made if it is not there. */
  @SuppressWarnings("unchecked")
  <T> T part(JvmPart<T> key) {
    Object found = parts.get(key);
    if (found == null) {
      // Making one part may ask for another, which computeIfAbsent would not allow.
      synchronized (key) {
        found = parts.get(key);
        if (found == null) {
          found = key.make();
          parts.put(key, found);
          newest.push(key);
        }
      }
    }
    return (T) found;
  }

  /**
   * What is held and must not outlive the factorizations, by the name of the part; empty if all of
   * them are closed and have left nothing.
   */
  public SortedMap<String, Long> held() {
    var all = new TreeMap<String, Long>();
    for (JvmPart<?> key : newest) {
      long held = held(key);
      if (held != 0) {
        all.merge(key.name(), held, Long::sum);
      }
    }
    return all;
  }

  private <T> long held(JvmPart<T> key) {
    return key.held(part(key));
  }

  /**
   * Closes all parts, the newest first, and forgets them; the state before {@link #fresh} is the
   * present one again. Idempotent.
   *
   * @throws IllegalStateException if a part could not be closed; all others are
   */
  @Override
  public void close() {
    synchronized (JvmState.class) {
      if (current == this && before != null) {
        current = before;
      }
    }
    IllegalStateException failure = null;
    for (JvmPart<?> key = newest.poll(); key != null; key = newest.poll()) {
      if (parts.remove(key) instanceof AutoCloseable part) {
        try {
          part.close();
        } catch (Exception e) {
          failure =
              failure == null ? new IllegalStateException("not closed: " + key.name(), e) : failure;
        }
      }
    }
    if (failure != null) {
      throw failure;
    }
  }
}
