/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.table;

import java.io.IOException;

/** A record that cannot be read; the driver decides which of a table's errors is the first. */
final class BadRecordException extends IOException {

  private static final long serialVersionUID = 1;

  private final long line;
  private final boolean encoding;

  /**
   * A record that cannot be read.
   *
   * @param line of the file in which the record begins
   * @param encoding whether its bytes are no text
   */
  BadRecordException(String message, long line, boolean encoding) {
    super(message);
    this.line = line;
    this.encoding = encoding;
  }

  long line() {
    return line;
  }

  boolean encoding() {
    return encoding;
  }
}
