/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.design;

import io.sparqr.spark.design.formula.Variable;
import io.sparqr.spark.design.level.LevelKind;
import java.io.Serializable;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The counterpart of a variable in the data.
 *
 * @param variable the variable
 * @param kind of its levels, if it is a factor
 * @param parts names of its entries, if it is a vector
 */
record Slot(Variable variable, @Nullable LevelKind kind, @Nullable List<String> parts)
    implements Serializable {

  /** What the levels are, of a variable that is a factor. */
  LevelKind levels() {
    return Objects.requireNonNull(kind);
  }

  /** The names of the entries, of a variable that is a vector. */
  List<String> entries() {
    return Objects.requireNonNull(parts);
  }

  boolean factor() {
    return kind != null;
  }

  boolean vector() {
    return parts != null;
  }
}
