/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.wire;

import org.jspecify.annotations.Nullable;

/**
 * The cause of one of our errors that comes from another JVM: message and stack trace of the
 * original, whose class the receiver need not have and does not load.
 */
public final class RemoteCause extends Exception {

  private static final long serialVersionUID = 1;
  private static final int MOST_CAUSES = 16;

  private final String text;

  private RemoteCause(Throwable original, @Nullable Throwable cause) {
    super(original.getMessage(), cause);
    this.text = original.toString();
    setStackTrace(original.getStackTrace());
  }

  /** Includes at most 16 further causes. */
  static RemoteCause of(Throwable original) {
    return of(original, MOST_CAUSES);
  }

  private static RemoteCause of(Throwable original, int causes) {
    Throwable cause = original.getCause();
    return new RemoteCause(original, cause == null || causes == 0 ? null : of(cause, causes - 1));
  }

  /** The original's text. */
  @Override
  public String toString() {
    return text;
  }
}
