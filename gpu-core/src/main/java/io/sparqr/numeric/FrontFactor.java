/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import io.sparqr.error.NumericalIntegrityException;
import java.nio.DoubleBuffer;

/**
 * The rows of R from one front, and their part of Q'b. Pivot column {@code livePivot[i]} (local,
 * ascending, in [0, fp)) has its pivot in row i; columns of [0, fp) not listed are dead. Row i
 * starts at column livePivot[i] and runs to the front's last column: fn - livePivot[i] values, rows
 * packed one after the other. The diagonal (first) value of each row is positive: rows of R and Q'b
 * are negated where Householder left it negative.
 *
 * @param front front number
 * @param fn columns of the front
 * @param livePivot size rank of the front
 * @param values packed rows, {@link #length} values from index 0 on; a buffer may be longer, its
 *     end is not used. Only absolute access, so that several threads may read
 * @param rhs rank x rhsCount, row-major
 * @param rhsCount right-hand sides carried along
 * @param bits sum of the mixed bits of values and rhs ({@link BitChecksum#sum}) when last computed;
 *     0: not computed
 */
public record FrontFactor(
    int front,
    int fn,
    int[] livePivot,
    DoubleBuffer values,
    double[] rhs,
    int rhsCount,
    long bits) {

  /** Checks sizes in O(rank). */
  public FrontFactor {
    if (values.capacity() < length(fn, livePivot)
        || rhs.length != (long) livePivot.length * rhsCount) {
      throw new IllegalArgumentException("rows of R of front " + front + ": inconsistent sizes");
    }
  }

  /** Rows of R whose checksum has not been computed. */
  public FrontFactor(
      int front, int fn, int[] livePivot, DoubleBuffer values, double[] rhs, int rhsCount) {
    this(front, fn, livePivot, values, rhs, rhsCount, 0);
  }

  /** Rows in an array, without a checksum. */
  public FrontFactor(
      int front, int fn, int[] livePivot, double[] values, double[] rhs, int rhsCount) {
    this(front, fn, livePivot, DoubleBuffer.wrap(values), rhs, rhsCount, 0);
  }

  /**
   * Checks that the checksum of all values is unchanged.
   *
   * @param sum of the mixed bits, now
   * @throws NumericalIntegrityException if a checksum is stored and differs
   */
  public void requireSame(long sum) {
    if (bits != 0 && sum != bits) {
      throw NumericalIntegrityException.changedInMemory(front);
    }
  }

  /**
   * Checks that live pivots ascend within the front and that the buffer holds all their rows.
   *
   * @throws NumericalIntegrityException if not
   */
  public void requireRows() {
    int last = -1;
    for (int live : livePivot) {
      if (live <= last || live >= fn) {
        throw NumericalIntegrityException.changedInMemory(front);
      }
      last = live;
    }
    if (length(fn, livePivot) > values.capacity()) {
      throw NumericalIntegrityException.changedInMemory(front);
    }
  }

  /** A copy with a checksum of its current values. O(values). */
  public FrontFactor sealed() {
    return new FrontFactor(front, fn, livePivot, values, rhs, rhsCount, sum());
  }

  /** Values in all rows. O(rank). */
  public int length() {
    return (int) length(fn, livePivot);
  }

  private static long length(int fn, int[] livePivot) {
    long length = 0;
    for (int k : livePivot) {
      length += fn - k;
    }
    return length;
  }

  /** The sum of the mixed bits of all rows and their right-hand sides. O(values). */
  public long sum() {
    return BitChecksum.sum(values, 0, length()) + BitChecksum.sum(rhs);
  }

  /** Bytes of the heap that the values and right-hand sides take. */
  public long heapBytes() {
    return Double.BYTES * ((values.isDirect() ? 0L : values.capacity()) + rhs.length);
  }

  /** Live pivot columns of the front. */
  public int rank() {
    return livePivot.length;
  }
}
