/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.matrix;

import io.sparqr.error.IndexOverflowException;
import java.util.Arrays;

/**
 * Rows that come one after the other, each with its right-hand sides, in arrays that grow with
 * them: compressed rows. What there is to know beside that (a front, a weight, a line) is its
 * user's. Not thread-safe.
 */
public final class GrowingRows {

  private static final int MOST = Integer.MAX_VALUE - 16;

  private final int width;
  private int count;
  private int[] start = new int[17];
  private int[] index = new int[64];
  private double[] value = new double[64];
  private double[] rhs;

  /**
   * Without rows.
   *
   * @param width right-hand sides a row
   */
  public GrowingRows(int width) {
    this.width = width;
    this.rhs = new double[16 * width];
  }

  /**
   * Adds a row.
   *
   * @param from place of its first entry in indices and values
   * @param bFrom place of its first right-hand side in b
   * @throws IndexOverflowException if it does not fit one JVM's arrays; the rows before it stay
   */
  public void add(int[] indices, double[] values, int from, int length, double[] b, int bFrom) {
    int used = start[count];
    if (count + 1 == start.length) {
      start = Arrays.copyOf(start, grown(start.length, count + 2L));
    }
    if (rhs.length < (count + 1L) * width) {
      rhs = Arrays.copyOf(rhs, grown(rhs.length, (count + 1L) * width));
    }
    if (length > index.length - used) {
      index = Arrays.copyOf(index, grown(index.length, (long) used + length));
      value = Arrays.copyOf(value, index.length);
    }
    System.arraycopy(indices, from, index, used, length);
    System.arraycopy(values, from, value, used, length);
    System.arraycopy(b, bFrom, rhs, count * width, width);
    start[++count] = used + length;
  }

  private static int grown(int capacity, long needed) {
    if (needed > MOST) {
      throw new IndexOverflowException(
          "more than " + MOST + " entries do not fit one JVM's arrays", "entries", needed);
    }
    return (int) Math.min(MOST, Math.max(needed, 2L * capacity));
  }

  /** Number of rows. */
  public int count() {
    return count;
  }

  /** Number of entries. */
  public int entries() {
    return start[count];
  }

  /** Starts of the rows, and the end of the last; as all arrays here, longer than used. */
  public int[] start() {
    return start;
  }

  /** Columns of the entries. */
  public int[] index() {
    return index;
  }

  /** Values of the entries. */
  public double[] value() {
    return value;
  }

  /** Right-hand sides by rows. */
  public double[] rhs() {
    return rhs;
  }

  /** Forgets the rows; the arrays stay for others. */
  public void clear() {
    count = 0;
  }
}
