/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.error;

/** Two sizes that must agree do not. */
public final class DimensionMismatchException extends SparseQrException {

  private final String what;
  private final long expected;
  private final long actual;

  /** The one-line message, and the fields that a program can read. */
  public DimensionMismatchException(String message, String what, long expected, long actual) {
    super(message);
    this.what = what;
    this.expected = expected;
    this.actual = actual;
  }

  public String what() {
    return what;
  }

  public long expected() {
    return expected;
  }

  public long actual() {
    return actual;
  }
}
