/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.ml;

/**
 * The uid of a Params object while its superclass constructors run: they create params that ask for
 * it before a field of the subclass can hold it. Set before {@code super()} and cleared after it,
 * on the same thread.
 */
final class PendingUid {

  private static final ThreadLocal<String> PENDING = new ThreadLocal<>();

  private PendingUid() {}

  /** Sets the uid, and returns it so that it can be a constructor argument. */
  static String begin(String uid) {
    PENDING.set(uid);
    return uid;
  }

  /** The pending uid, or null. */
  static String get() {
    return PENDING.get();
  }

  /** Clears it. */
  static void end() {
    PENDING.remove();
  }
}
