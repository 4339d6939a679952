/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.matrix;

import java.io.IOException;

/**
 * The entries of a Matrix Market file, one after the other: of all of it or of a part, so that
 * several readers side by side get every entry once. Errors name the file and the line. Not
 * thread-safe.
 */
public interface EntryReader {

  /**
   * Takes the next entry; false if there is none.
   *
   * @throws io.sparqr.error.MatrixFormatException at a malformed line, an index out of range, and
   *     entries beyond those that the header promises
   * @throws io.sparqr.error.NonFiniteValueException at NaN, infinity or a number beyond the double
   *     range
   */
  boolean next() throws IOException;

  /** Row of the entry, 0-based. */
  long row();

  /** Column of the entry, 0-based. */
  int column();

  /** Value of the entry. */
  double value();

  /** Whether the entry stands for (column, row) too, with {@link #mirrorValue()}. */
  boolean mirrored();

  /** The value at (column, row). */
  double mirrorValue();

  /** Entries taken, with those before our part. */
  long taken();

  /** Line feeds passed so far. */
  long lines();
}
