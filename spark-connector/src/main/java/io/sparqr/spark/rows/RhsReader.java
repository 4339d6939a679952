/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.rows;

import io.sparqr.error.DimensionMismatchException;
import io.sparqr.error.NonFiniteValueException;

/**
 * Checks the right-hand sides of successive rows of a partition, and multiplies them by
 * sqrt(weight). Not thread-safe; the next row overwrites the values.
 */
public final class RhsReader {

  private final int partition;
  private int count = -1;
  private double[] rhs = new double[0];

  /** A reader of the right-hand sides in this partition, which its errors name. */
  public RhsReader(int partition) {
    this.partition = partition;
  }

  /**
   * Checks their number, which must be that of the rows before.
   *
   * @param position of the row in the partition
   * @throws DimensionMismatchException if it is not
   */
  public void check(double[] labels, long position) {
    if (count < 0) {
      count = labels.length;
      rhs = new double[count];
    } else if (labels.length != count) {
      throw new DimensionMismatchException(
          "%s has %d right-hand sides, the rows before it %d"
              .formatted(InputPlace.of(position, partition), labels.length, count),
          "right-hand sides",
          count,
          labels.length);
    }
  }

  /**
   * Reads checked ones.
   *
   * @param scale sqrt(weight)
   * @throws NonFiniteValueException if one is not finite
   */
  public void read(double[] labels, double scale, long position) {
    for (int k = 0; k < count; k++) {
      if (!Double.isFinite(labels[k])) {
        throw new NonFiniteValueException(
            "%s: right-hand side %d is %s"
                .formatted(InputPlace.of(position, partition), k, labels[k]),
            position,
            -1);
      }
      rhs[k] = labels[k] * scale;
      if (Double.isInfinite(rhs[k])) {
        throw new NonFiniteValueException(
            "%s: right-hand side %d, %s, times the root of the row's weight overflows"
                .formatted(InputPlace.of(position, partition), k, labels[k]),
            position,
            -1);
      }
    }
  }

  /** Takes values that were read before, from a position of an array. */
  void take(double[] values, int from, int width) {
    if (count != width) {
      count = width;
      rhs = new double[width];
    }
    System.arraycopy(values, from, rhs, 0, width);
  }

  /** The values of the last row, times sqrt(weight). */
  public double[] rhs() {
    return rhs;
  }

  /** Number of right-hand sides per row, or -1 before the first row. */
  public int count() {
    return count;
  }
}
