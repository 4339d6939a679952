/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.design;

import java.io.Serializable;
import java.util.List;

/**
 * What a variable is in the data.
 *
 * @param variable it
 * @param kind of its levels; null: no factor
 * @param parts names of a vector's entries; null: no vector
 */
record Slot(Variable variable, LevelKind kind, List<String> parts) implements Serializable {

  boolean factor() {
    return kind != null;
  }

  boolean vector() {
    return parts != null;
  }
}
