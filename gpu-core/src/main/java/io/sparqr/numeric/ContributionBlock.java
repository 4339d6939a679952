/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

/**
 * The part of front f that its parent receives: the trailing upper trapezoid C of the factorized
 * front, cm x cn, and the same rows of Q'b. Row i starts at column i of the front's tail (its
 * non-pivot columns); rows are packed one after the other, row i with cn - i values. In host
 * memory, owned by the holder of the object; immutable by contract.
 *
 * <p>cm x cn packed is cm cn - cm (cm - 1) / 2 values; that product is limited to an array's size.
 *
 * @param front the front it comes from
 * @param cm rows, at most cn
 * @param cn columns: the front's non-pivot columns
 * @param values packed trapezoid
 * @param rhs cm x rhsCount, row-major
 * @param rhsCount right-hand sides carried along
 */
public record ContributionBlock(
    int front, int cm, int cn, double[] values, double[] rhs, int rhsCount) {

  /** Checks sizes in O(1). */
  public ContributionBlock {
    if (cm < 0 || cm > cn || values.length != packedLength(cm, cn)) {
      throw new IllegalArgumentException(
          "contribution block of front " + front + ": " + cm + " x " + cn + ", " + values.length);
    }
    if (rhs.length != (long) cm * rhsCount) {
      throw new IllegalArgumentException("contribution block of front " + front + ": rhs size");
    }
  }

  /** Values in a packed upper trapezoid of cm rows and cn columns, cm at most cn. */
  public static long packedLength(long cm, long cn) {
    return Math.multiplyExact(cm, cn) - cm * (cm - 1) / 2;
  }

  /** Offset of packed row i. */
  public long rowOffset(int i) {
    return (long) i * cn - (long) i * (i - 1) / 2;
  }
}
