/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.ml;

/**
 * The uid of a Params object while its superclass constructors run: they make params that ask for
 * it before a field of the subclass can hold it. Begun before {@code super()}, ended after it, on
 * one thread.
 */
final class PendingUid {

  private static final ThreadLocal<String> PENDING = new ThreadLocal<>();

  private PendingUid() {}

  /** Announces a uid; returned so that a constructor's arguments can say it. */
  static String begin(String uid) {
    PENDING.set(uid);
    return uid;
  }

  /** The announced uid, null if there is none. */
  static String get() {
    return PENDING.get();
  }

  /** Forgets it. */
  static void end() {
    PENDING.remove();
  }
}
