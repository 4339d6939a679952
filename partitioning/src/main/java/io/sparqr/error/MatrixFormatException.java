/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.error;

import java.util.OptionalLong;

/**
 * Malformed input: the source (a file, a partition) and the position in it (a line, a row), where
 * there is one.
 */
public final class MatrixFormatException extends SparseQrException {

  private final String source;
  private final long position;

  /**
   * The one-line message, and the fields that a program can read.
   *
   * @param position a line or a row; -1: none
   */
  public MatrixFormatException(String message, String source, long position) {
    super(message);
    this.source = source;
    this.position = position;
  }

  public String source() {
    return source;
  }

  /** The line or the row, where there is one. */
  public OptionalLong position() {
    return position < 0 ? OptionalLong.empty() : OptionalLong.of(position);
  }
}
