/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

/**
 * Rows to be assembled into fronts: rows of A (weighted, equilibrated, columns as positions of the
 * analysis), ridge rows, or rows combined by a map-side QR. Row i goes to front {@code front[i]}
 * and has the entries {@code rowStart[i] .. rowStart[i+1]}: positions strictly ascending, each one
 * a column of that front. The order of the rows is part of the input: the same rows in the same
 * order give the same bits. Arrays are shared, not copied.
 *
 * @param front size rows
 * @param rowStart size rows+1; offsets
 * @param position size rowStart[rows]; positions of the analysis
 * @param value size rowStart[rows]
 * @param rhs size rows * rhsCount, row-major: the rows' right-hand sides
 * @param rhsCount right-hand sides, at least 0
 */
public record RowBlock(
    int[] front, int[] rowStart, int[] position, double[] value, double[] rhs, int rhsCount) {

  private static final double[] NO_VALUES = {};

  /** Checks sizes in O(1). */
  @SuppressWarnings("ReferenceEquality") // nobody else has this array
  public RowBlock {
    if (value != NO_VALUES
        && (rowStart.length != front.length + 1
            || rhs.length < (long) front.length * rhsCount
            || position.length < rowStart[front.length]
            || value.length < rowStart[front.length])) {
      throw new IllegalArgumentException("inconsistent sizes of a row block");
    }
  }

  /** A block without rows. */
  public static RowBlock empty(int rhsCount) {
    return new RowBlock(new int[0], new int[1], new int[0], new double[0], new double[0], rhsCount);
  }

  /** The structure of this block: without values and right-hand sides, but their number. */
  public RowBlock structure() {
    return new RowBlock(front, rowStart, position, NO_VALUES, NO_VALUES, rhsCount);
  }

  /** Number of rows. */
  public int rows() {
    return front.length;
  }
}
