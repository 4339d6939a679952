/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.model;

import java.io.Serializable;
import java.util.Objects;

/**
 * One row of a sparse least-squares problem: the entries of A, the right-hand sides, the weight.
 * Stored zeros are ignored (they are left out of the pattern). Indices may be in any order but must
 * not repeat; a solve rejects such a row with an error that identifies it. Arrays are shared, not
 * copied.
 *
 * <p>A class rather than a record, because Kryo, which many Spark installations use, cannot read
 * records.
 */
public final class SparseRow implements Serializable {

  private static final long serialVersionUID = 1;

  private final int[] indices;
  private final double[] values;
  private final double[] labels;
  private final double weight;
  private final int columns;

  /**
   * A row.
   *
   * @param indices column indices, 0-based
   * @param values the values at these indices; same length
   * @param labels the row's right-hand sides; every row of a problem has the same number of them
   * @param weight at least 0: the factor of the row's squared residual; 0 = row ignored
   * @param columns n as declared by this row (for example the size of its vector), or -1; rows that
   *     declare it must agree
   * @throws IllegalArgumentException if indices and values differ in length
   */
  public SparseRow(int[] indices, double[] values, double[] labels, double weight, int columns) {
    Objects.requireNonNull(labels, "labels");
    if (indices.length != values.length) {
      throw new IllegalArgumentException(
          "a row with " + indices.length + " indices and " + values.length + " values");
    }
    this.indices = indices;
    this.values = values;
    this.labels = labels;
    this.weight = weight;
    this.columns = columns;
  }

  /** A row with one right-hand side and weight 1. */
  public SparseRow(int[] indices, double[] values, double label) {
    this(indices, values, new double[] {label}, 1.0, -1);
  }

  /** A row with one right-hand side. */
  public SparseRow(int[] indices, double[] values, double label, double weight) {
    this(indices, values, new double[] {label}, weight, -1);
  }

  /** A row with several right-hand sides and weight 1. */
  public SparseRow(int[] indices, double[] values, double[] labels) {
    this(indices, values, labels, 1.0, -1);
  }

  /** A row with several right-hand sides and a weight. */
  public SparseRow(int[] indices, double[] values, double[] labels, double weight) {
    this(indices, values, labels, weight, -1);
  }

  /** Column indices, 0-based, in the order given. */
  public int[] indices() {
    return indices;
  }

  /** The values at {@link #indices()}, in their order. */
  public double[] values() {
    return values;
  }

  /** The entries of b in this row, one for each right-hand side. */
  public double[] labels() {
    return labels;
  }

  /** The weight of the row, at least 0. */
  public double weight() {
    return weight;
  }

  /**
   * n as declared by the row, or -1: a number, since every row has it. The constructors without it
   * declare nothing.
   */
  public int columns() {
    return columns;
  }

  @Override
  public String toString() {
    return "SparseRow[" + indices.length + " entries, weight " + weight + "]";
  }
}
