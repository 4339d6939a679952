/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.dense;

import io.sparqr.symbolic.FrontMemory;
import io.sparqr.threads.Crew;
import java.util.Arrays;

/**
 * QR of a matrix with far more rows than columns, with rows added one by one: a full buffer is
 * reduced to an upper trapezoid of at most {@code columns} rows, on which the next rows are stacked
 * (the flat tree of TSQR: Demmel, Grigori, Hoemmen, Langou 2012). The buffer bounds the memory for
 * any number of rows. No rank detection: every step is orthogonal, norms are preserved, and the
 * squares of eliminated right-hand sides are summed.
 */
public final class TallReducer {

  /** Columns copied at a time. */
  private static final int STRIP = 32;

  private final StaircaseQr qr;
  private final int columns;
  private final int further;
  private final int width;
  private final int capacity;
  private final double[] residual;

  /** held x width, row-major: matrix columns, then further columns. */
  private double[] rows;

  private int[] leftmost;
  private int held;
  private double[] matrix = new double[0];

  /**
   * An empty reducer.
   *
   * @param kernels gemm
   * @param columns of the matrix
   * @param further right-hand sides
   * @param capacity rows held before a reduction, more than columns
   */
  public TallReducer(DenseKernels kernels, int columns, int further, int capacity) {
    if (capacity <= columns) {
      throw new IllegalArgumentException("capacity " + capacity + " for " + columns + " columns");
    }
    this.qr = new StaircaseQr(kernels);
    this.columns = columns;
    this.further = further;
    this.width = columns + further;
    this.capacity = capacity;
    this.residual = new double[further];
    int start = Math.min(capacity, 64);
    this.rows = new double[Math.multiplyExact(start, width)];
    this.leftmost = new int[start];
  }

  /**
   * Rows of a buffer of about {@code bytes}: {@link FrontMemory#tallRows}, limited by an array's
   * size.
   */
  public static int capacity(int columns, int further, long bytes) {
    long most = (Integer.MAX_VALUE - 8L) / Math.max(columns + further + 1, 1);
    return (int) Math.min(FrontMemory.tallRows(columns, further, bytes), most);
  }

  /**
   * Makes room for one more row, all zero.
   *
   * @param first its leftmost column, {@code columns} if it has no entry
   * @return index in {@link #rows()} for its columns + further values
   */
  public int open(int first) {
    if (held == capacity) {
      reduce();
    }
    if (held == leftmost.length) {
      int more = (int) Math.min(capacity, 2L * held);
      rows = Arrays.copyOf(rows, Math.multiplyExact(more, width));
      leftmost = Arrays.copyOf(leftmost, more);
    }
    int at = held * width;
    Arrays.fill(rows, at, at + width, 0);
    leftmost[held++] = first;
    return at;
  }

  /** The rows held, row-major, columns + further values each. */
  public double[] rows() {
    return rows;
  }

  /** Number of rows held. */
  public int held() {
    return held;
  }

  /** Reduces the rows held to their trapezoid of at most {@code columns} rows. */
  public void reduce() {
    int ld = held;
    int length = Math.toIntExact(StaircaseQr.length(ld, width));
    boolean zeroed = matrix.length < length;
    if (zeroed) {
      matrix = new double[length];
    }
    int[] stair = new int[columns];
    int[] place = places(stair);
    strips((from, to) -> sortInto(matrix, ld, place, from, to, zeroed));
    int[] pivot = new int[Math.min(columns, held)];
    int count = qr.factor(matrix, ld, columns, further, 0, -1, stair, pivot, Crew.ALONE);
    addSquares(matrix, ld, count, held, columns, residual);
    System.arraycopy(pivot, 0, leftmost, 0, count);
    strips((from, to) -> takeBack(ld, count, from, to));
    held = count;
  }

  /** Copies columns [from, to) of the trapezoid back to the rows held. */
  private void takeBack(int ld, int count, int from, int to) {
    for (int i = 0; i < count; i++) {
      int at = i * width;
      int first = Math.min(Math.max(leftmost[i], from), to);
      Arrays.fill(rows, at + from, at + first, 0);
      for (int k = first; k < to; k++) {
        rows[at + k] = matrix[i + k * ld];
      }
    }
  }

  /**
   * Runs an action on all columns, a few at a time: a conversion between row-major and column-major
   * then touches no more cache lines and pages at once than a core's cache and TLB hold.
   */
  private void strips(Columns action) {
    for (int from = 0; from < width; from += STRIP) {
      action.run(from, Math.min(from + STRIP, width));
    }
  }

  private interface Columns {
    void run(int from, int to);
  }

  /** The place of each row held in order of leftmost column; fills the staircase. */
  private int[] places(int[] stair) {
    int[] next = new int[columns + 1];
    for (int i = 0; i < held; i++) {
      if (leftmost[i] < columns) {
        next[leftmost[i] + 1]++;
      }
    }
    for (int k = 0; k < columns; k++) {
      next[k + 1] += next[k];
      stair[k] = next[k + 1];
    }
    int[] place = new int[held];
    for (int i = 0; i < held; i++) {
      place[i] = next[leftmost[i]]++;
    }
    return place;
  }

  private void sortInto(double[] target, int ld, int[] place, int from, int to, boolean zeroed) {
    if (!zeroed) {
      Arrays.fill(target, from * ld, to * ld, 0);
    }
    for (int i = 0; i < held; i++) {
      int at = i * width;
      int row = place[i];
      for (int k = Math.max(leftmost[i], from); k < to; k++) {
        target[row + k * ld] = rows[at + k];
      }
    }
  }

  /** Size further: squares of the right-hand sides eliminated so far. */
  public double[] residualSquares() {
    return residual;
  }

  /** sums[q] += squares of rows [from, to) of further column q of a column-major matrix. */
  public static void addSquares(
      double[] matrix, int ld, int from, int to, int columns, double[] sums) {
    for (int q = 0; q < sums.length; q++) {
      int at = (columns + q) * ld;
      sums[q] += Reflectors.sumOfSquares(matrix, at + from, to - from);
    }
  }
}
