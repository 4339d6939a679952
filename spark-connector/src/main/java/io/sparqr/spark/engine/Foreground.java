/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.engine;

import io.sparqr.jvm.JvmPart;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Whether this JVM has had work of a user: then it needs no warm-up, and its cores are taken. A
 * solve that no user asked for is aside: it is neither logged nor counted.
 */
public final class Foreground {

  private static final JvmPart<Foreground> OF_JVM = JvmPart.of("work of users", Foreground::new);

  private final AtomicBoolean entered = new AtomicBoolean();

  private final AtomicBoolean working = new AtomicBoolean();

  private final ThreadLocal<Boolean> aside = ThreadLocal.withInitial(() -> false);

  private Foreground() {}

  /** A solve begins on the driver. */
  public static void enter() {
    if (!OF_JVM.get().aside.get()) {
      OF_JVM.get().entered.set(true);
    }
  }

  /** The tasks of a solve begin, or one of them does on an executor. */
  public static void work() {
    if (!OF_JVM.get().aside.get()) {
      OF_JVM.get().entered.set(true);
      OF_JVM.get().working.set(true);
    }
  }

  /** Whether tasks of such a solve have begun in this JVM. */
  public static boolean working() {
    return OF_JVM.get().working.get();
  }

  /**
   * Whether a solve that a user asked for has begun since the JVM started, or since {@link
   * #forget()}.
   */
  public static boolean entered() {
    return OF_JVM.get().entered.get();
  }

  /** Forgets that, at the start of an application. */
  public static void forget() {
    OF_JVM.get().entered.set(false);
    OF_JVM.get().working.set(false);
  }

  /** Runs a driver's work aside. */
  public static void aside(Runnable work) {
    OF_JVM.get().aside.set(true);
    try {
      work.run();
    } finally {
      OF_JVM.get().aside.remove();
    }
  }

  /** Whether the calling thread, a driver's, works aside. */
  public static boolean aside() {
    return OF_JVM.get().aside.get();
  }
}
