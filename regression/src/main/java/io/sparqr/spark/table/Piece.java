/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.table;

import java.io.Serializable;

/**
 * A part of a file that one task reads: whole records.
 *
 * @param file index of the file
 * @param begin first byte
 * @param end last byte + 1; -1: to the end of the decompressed content
 * @param linesBefore lines of the file before the piece
 */
record Piece(int file, long begin, long end, long linesBefore) implements Serializable {

  static Piece whole(int file) {
    return new Piece(file, 0, -1, 0);
  }
}
