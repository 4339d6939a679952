/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.error;

/**
 * Malformed input: the source (a file, a partition) and the position in it (a line, a row; -1 where
 * there is none).
 */
public final class MatrixFormatException extends SparseQrException {

  private final String source;
  private final long position;

  /** The one-line message, and the fields that a program can read. */
  public MatrixFormatException(String message, String source, long position) {
    super(message);
    this.source = source;
    this.position = position;
  }

  public String source() {
    return source;
  }

  public long position() {
    return position;
  }
}
