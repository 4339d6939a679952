/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.resource;

import java.util.concurrent.atomic.AtomicBoolean;

/** Whether this JVM has work of a user: then it needs no warm-up, and its cores are taken. */
public final class Foreground {

  private static final AtomicBoolean ENTERED = new AtomicBoolean();

  private Foreground() {}

  /** A solve of a user begins on the driver, or a task of one on an executor. */
  public static void enter() {
    ENTERED.set(true);
  }

  /** Whether one has begun since the JVM started or {@link #forget()}. */
  public static boolean entered() {
    return ENTERED.get();
  }

  /** Forgets it, at the start of an application. */
  public static void forget() {
    ENTERED.set(false);
  }
}
