/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.jvm;

import java.util.function.Supplier;
import java.util.function.ToLongFunction;

/**
 * A typed key to one part of this JVM's {@link JvmState}: a registry, a budget, a counter. The key
 * is a constant of the class that uses the part, and never changes; the part itself belongs to the
 * state, which makes it when it is first asked for. Thread-safe.
 *
 * @param <T> the part, which must be thread-safe; closed with the state if it is {@link
 *     AutoCloseable}
 */
public final class JvmPart<T> {

  private final String name;
  private final Supplier<? extends T> make;
  private final ToLongFunction<? super T> held;

  private JvmPart(String name, Supplier<? extends T> make, ToLongFunction<? super T> held) {
    this.name = name;
    this.make = make;
    this.held = held;
  }

  /**
   * A part that may keep what it has as long as the JVM runs.
   *
   * @param name what it has, in the plural
   */
  public static <T> JvmPart<T> of(String name, Supplier<? extends T> make) {
    return new JvmPart<>(name, make, part -> 0);
  }

  /**
   * A part that must be empty once every factorization is closed.
   *
   * @param name what it holds, in the plural
   * @param held how many of these, or bytes of them, it holds now
   */
  public static <T> JvmPart<T> holding(
      String name, Supplier<? extends T> make, ToLongFunction<? super T> held) {
    return new JvmPart<>(name, make, held);
  }

  /** The part of this JVM. */
  public T get() {
    return JvmState.current().part(this);
  }

  String name() {
    return name;
  }

  T make() {
    return make.get();
  }

  long held(T part) {
    return held.applyAsLong(part);
  }
}
