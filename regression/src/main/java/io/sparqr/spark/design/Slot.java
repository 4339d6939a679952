/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.design;

import io.sparqr.spark.design.formula.Variable;
import io.sparqr.spark.design.level.LevelKind;
import java.io.Serializable;
import java.util.List;

/**
 * The counterpart of a variable in the data.
 *
 * @param variable the variable
 * @param kind of its levels; null: not a factor
 * @param parts names of a vector's entries; null: not a vector
 */
record Slot(Variable variable, LevelKind kind, List<String> parts) implements Serializable {

  boolean factor() {
    return kind != null;
  }

  boolean vector() {
    return parts != null;
  }
}
