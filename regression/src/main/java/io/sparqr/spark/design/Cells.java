/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.design;

import io.sparqr.spark.design.level.LevelKind;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * A row's values by their position in a {@link Selection}, for any representation of the row in
 * Spark.
 */
interface Cells {

  /** The number of fields; the id column, which comes last, may be missing. */
  int fields();

  /** Whether the value is null or NaN. */
  boolean missing(int field, LevelKind kind);

  /** A double that is not missing. */
  double number(int field);

  /** The key of a level that is neither missing nor a text. */
  long key(int field, LevelKind kind);

  /** A text that is not missing. */
  UTF8String text(int field);

  /** Reads a vector that is not missing into the {@link VectorEntries}. */
  void vector(int field, VectorEntries into);

  /** The value for an error message. */
  String shown(int field);
}
