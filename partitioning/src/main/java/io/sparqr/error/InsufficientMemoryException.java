/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.error;

/** Something does not fit: how many bytes are needed and how many there are. */
public final class InsufficientMemoryException extends SparseQrException {

  private final long requiredBytes;
  private final long availableBytes;

  /** The one-line message, and the fields that a program can read. */
  public InsufficientMemoryException(String message, long requiredBytes, long availableBytes) {
    super(message);
    this.requiredBytes = requiredBytes;
    this.availableBytes = availableBytes;
  }

  public long requiredBytes() {
    return requiredBytes;
  }

  public long availableBytes() {
    return availableBytes;
  }
}
