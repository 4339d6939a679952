/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.ml;

import io.sparqr.jvm.JvmPart;

/**
 * The uid of a Params object while its superclass constructors run: they create params that ask for
 * it before a field of the subclass can hold it. Set before {@code super()} and cleared after it,
 * on the same thread.
 */
final class PendingUid {

  private static final JvmPart<ThreadLocal<String>> PENDING =
      JvmPart.of("pending uids", ThreadLocal::new);

  private PendingUid() {}

  /** Sets the uid, and returns it so that it can be a constructor argument. */
  static String begin(String uid) {
    PENDING.get().set(uid);
    return uid;
  }

  /** The pending uid, or null. */
  static String get() {
    return PENDING.get().get();
  }

  /** Clears it. */
  static void end() {
    PENDING.get().remove();
  }
}
