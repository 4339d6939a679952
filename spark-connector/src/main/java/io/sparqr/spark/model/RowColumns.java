/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.model;

import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * The columns of a Dataset that hold the rows of a problem.
 *
 * @param features a vector column: the rows of A
 * @param weight a numeric column of weights; empty: all weights are 1
 * @param labels numeric columns, the right-hand sides; at least one
 */
public record RowColumns(String features, Optional<String> weight, List<String> labels) {

  /**
   * Copies the list.
   *
   * @throws IllegalArgumentException if there is no label column
   */
  public RowColumns {
    Objects.requireNonNull(features, "features");
    Objects.requireNonNull(weight, "weight");
    labels = List.copyOf(labels);
    if (labels.isEmpty()) {
      throw new IllegalArgumentException(
          "no label column: the columns are features (here %s), weight (%s), labels"
              .formatted(features, weight.orElse("none")));
    }
  }

  /** The columns "features" and "label", without weights. */
  public static RowColumns defaults() {
    return of("features", "label");
  }

  /** A vector column and the right-hand sides, without weights. */
  public static RowColumns of(String features, String... labels) {
    return new RowColumns(features, Optional.empty(), List.of(labels));
  }

  /** A copy with a column of weights. */
  public RowColumns weighted(String column) {
    return new RowColumns(features, Optional.of(column), labels);
  }
}
