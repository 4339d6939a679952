/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.design;

import org.apache.spark.unsafe.types.UTF8String;

/** A row's values by their place in a {@link Selection}, in whatever form Spark gives the row. */
interface Cells {

  /** How many there are; an id column, which comes last, may be missing. */
  int fields();

  /** Whether the value is null, or a number that is none. */
  boolean missing(int field, LevelKind kind);

  /** A double that is not missing. */
  double number(int field);

  /** The key of a level that is not missing and no text. */
  long key(int field, LevelKind kind);

  /** A text that is not missing. */
  UTF8String text(int field);

  /** Reads a vector that is not missing: afterwards {@link VectorEntries} has it. */
  void vector(int field, VectorEntries into);

  /** For an error. */
  String shown(int field);
}
