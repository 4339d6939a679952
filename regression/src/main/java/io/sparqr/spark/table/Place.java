/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.table;

import java.io.Serializable;
import org.jspecify.annotations.Nullable;

/**
 * A place in the files of a table, with what is there.
 *
 * @param file index of the file
 * @param line of the file, from 1, in which the record begins
 * @param text the value, or the message of an error, as messages show it
 */
record Place(int file, long line, String text) implements Serializable {

  /** The earlier of two places, of which either may not be there. */
  static @Nullable Place earlier(@Nullable Place a, @Nullable Place b) {
    if (a == null || b == null) {
      return a == null ? b : a;
    }
    boolean second = b.file < a.file || (b.file == a.file && b.line < a.line);
    return second ? b : a;
  }
}
