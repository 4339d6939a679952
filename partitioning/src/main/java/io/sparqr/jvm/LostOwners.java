/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.jvm;

import java.lang.ref.Cleaner;

/**
 * Frees what an object owns when the collector finds that nobody has the object any more: for those
 * that a caller forgot to close. One thread of the JVM does so for all.
 */
public final class LostOwners {

  private static final JvmPart<Cleaner> CLEANER =
      JvmPart.of("what lost owners have left", Cleaner::create);

  private LostOwners() {}

  /**
   * Runs an action once the owner is lost.
   *
   * @param free must not refer to the owner; quick, and safe after a regular close
   */
  public static void whenLost(Object owner, Runnable free) {
    CLEANER.get().register(owner, free);
  }
}
