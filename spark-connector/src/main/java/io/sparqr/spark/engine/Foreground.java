/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.engine;

import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Whether this JVM has had work of a user: then it needs no warm-up, and its cores are taken. A
 * solve that no user asked for is aside: it is neither logged nor counted.
 */
public final class Foreground {

  private static final AtomicBoolean ENTERED = new AtomicBoolean();

  private static final AtomicBoolean WORKING = new AtomicBoolean();

  private static final ThreadLocal<Boolean> ASIDE = ThreadLocal.withInitial(() -> false);

  private Foreground() {}

  /** A solve begins on the driver; whether it is the first of a user. */
  public static boolean enter() {
    return !ASIDE.get() && !ENTERED.getAndSet(true);
  }

  /** The tasks of a solve begin, or one of them does on an executor. */
  public static void work() {
    if (!ASIDE.get()) {
      ENTERED.set(true);
      WORKING.set(true);
    }
  }

  /** Whether tasks of such a solve have begun in this JVM. */
  public static boolean working() {
    return WORKING.get();
  }

  /**
   * Whether a solve that a user asked for has begun since the JVM started, or since {@link
   * #forget()}.
   */
  public static boolean entered() {
    return ENTERED.get();
  }

  /** Forgets that, at the start of an application. */
  public static void forget() {
    ENTERED.set(false);
    WORKING.set(false);
  }

  /** Runs a driver's work aside. */
  public static void aside(Runnable work) {
    ASIDE.set(true);
    try {
      work.run();
    } finally {
      ASIDE.remove();
    }
  }

  /** Whether the calling thread, a driver's, works aside. */
  public static boolean aside() {
    return ASIDE.get();
  }
}
