/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.design.level;

import java.io.Serializable;

/**
 * A factor's levels: the reference level first, then the others in ascending order, and last the
 * level for missing values.
 *
 * @param levels the levels in the data
 * @param reference the reference level's code
 * @param missing whether missing values are a level of their own
 */
public record Factor(Levels levels, int reference, boolean missing) implements Serializable {

  /** Number of levels. */
  public int count() {
    return levels.count() + (missing ? 1 : 0);
  }

  /** The position of the level with a code; {@link Levels#NONE} is treated as missing. */
  public int position(int code) {
    if (code == Levels.NONE) {
      return missing ? levels.count() : Levels.NONE;
    }
    return code == reference ? 0 : code < reference ? code + 1 : code;
  }

  /** The level at a position, as R prints it. */
  public String name(int position) {
    if (position == levels.count()) {
      return "NA";
    }
    int code = position == 0 ? reference : position <= reference ? position - 1 : position;
    return levels.name(code);
  }
}
