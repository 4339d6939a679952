/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.error;

/** A backend was required and cannot be used; the message says why. */
public final class BackendUnavailableException extends SparseQrException {

  private final String backend;

  /** The one-line message, and the fields that a program can read. */
  public BackendUnavailableException(String message, String backend) {
    super(message);
    this.backend = backend;
  }

  public String backend() {
    return backend;
  }
}
