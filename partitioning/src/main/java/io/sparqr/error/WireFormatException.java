/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.error;

/** Bytes that are not a message of Sparqr: wrong magic, version, size or checksum. */
public final class WireFormatException extends SparseQrException {

  private final String what;

  /** The one-line message, and the fields that a program can read. */
  public WireFormatException(String message, String what) {
    super(message);
    this.what = what;
  }

  public String what() {
    return what;
  }
}
