/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.design;

import java.io.Serializable;

/**
 * A factor's levels with its reference level first, the others after it in ascending order, and the
 * level of what is missing last.
 *
 * @param levels as the data have them
 * @param reference the reference level's code
 * @param missing whether what is missing is a level of its own
 */
record Factor(Levels levels, int reference, boolean missing) implements Serializable {

  /** How many there are. */
  int count() {
    return levels.count() + (missing ? 1 : 0);
  }

  /** Where a level of a code stands; {@link Levels#NONE}: nowhere, as what is missing. */
  int position(int code) {
    if (code == Levels.NONE) {
      return missing ? levels.count() : Levels.NONE;
    }
    return code == reference ? 0 : code < reference ? code + 1 : code;
  }

  /** The level at a place, as R prints it. */
  String name(int position) {
    if (position == levels.count()) {
      return "NA";
    }
    int code = position == 0 ? reference : position <= reference ? position - 1 : position;
    return levels.name(code);
  }
}
