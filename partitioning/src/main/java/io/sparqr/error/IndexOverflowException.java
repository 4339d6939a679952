/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.error;

/** A size or an index exceeds what the data structure can address. */
public final class IndexOverflowException extends SparseQrException {

  private final String what;
  private final long value;

  /** The one-line message, and the fields that a program can read. */
  public IndexOverflowException(String message, String what, long value) {
    super(message);
    this.what = what;
    this.value = value;
  }

  public String what() {
    return what;
  }

  public long value() {
    return value;
  }
}
