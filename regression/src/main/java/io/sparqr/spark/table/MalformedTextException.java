/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.table;

import java.io.IOException;

/** Bytes that are no text in the encoding of the file. */
final class MalformedTextException extends IOException {

  private static final long serialVersionUID = 1;

  private final long line;

  /**
   * Bytes that are no text.
   *
   * @param line of the stream, from 1
   */
  MalformedTextException(String encoding, long line) {
    super("no text in " + encoding);
    this.line = line;
  }

  long line() {
    return line;
  }
}
