/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import io.sparqr.numeric.dense.BlasLoader;
import io.sparqr.numeric.dense.TallReducer;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.Arrays;

/**
 * TSQR as a map-side combine: many rows of one front become at most fn rows before the shuffle
 * (Demmel, Grigori, Hoemmen, Langou 2012), an upper trapezoid in the front's columns. Exactly
 * orthogonal, no rank decision; the squared right-hand sides of eliminated rows are kept. The same
 * rows in the same order give the same bits. Bytes: {@value #BUFFER_BYTES} of rows at most, or 2 fn
 * rows if that is more.
 */
public final class MapSideReducer {

  private static final long BUFFER_BYTES = 16L << 20;

  private final SymbolicAnalysis analysis;
  private final int front;
  private final int fn;
  private final int rhsCount;
  private final TallReducer tall;

  /** An empty reducer for one front. */
  public MapSideReducer(SymbolicAnalysis analysis, int front, int rhsCount) {
    this.analysis = analysis;
    this.front = front;
    this.fn = analysis.fn(front);
    this.rhsCount = rhsCount;
    int capacity = TallReducer.capacity(fn, rhsCount, BUFFER_BYTES);
    this.tall = new TallReducer(BlasLoader.kernels(), fn, rhsCount, capacity);
  }

  /**
   * Adds a row.
   *
   * @param position its positions at [from, to), ascending, each a column of the front
   * @param value its values at [from, to)
   * @param rhs its right-hand sides, rhsCount from rhsFrom on
   */
  public void add(int[] position, double[] value, int from, int to, double[] rhs, int rhsFrom) {
    int first = from == to ? fn : local(position[from]);
    int at = tall.open(first);
    double[] rows = tall.rows();
    for (int k = from; k < to; k++) {
      rows[at + local(position[k])] = value[k];
    }
    System.arraycopy(rhs, rhsFrom, rows, at + fn, rhsCount);
  }

  /** Adds all rows of a block, which must be this front's. */
  public void add(RowBlock block) {
    for (int i = 0; i < block.rows(); i++) {
      if (block.front()[i] != front) {
        throw new IllegalArgumentException("row of front " + block.front()[i] + ", not " + front);
      }
      int from = block.rowStart()[i];
      add(
          block.position(),
          block.value(),
          from,
          block.rowStart()[i + 1],
          block.rhs(),
          i * rhsCount);
    }
  }

  /** Reduces if there are more than fn rows; returns the remaining rows without zeros. */
  public RowBlock finish() {
    if (tall.held() > fn) {
      tall.reduce();
    }
    int count = tall.held();
    double[] rows = tall.rows();
    int width = fn + rhsCount;
    int entries = 0;
    for (int i = 0; i < count; i++) {
      for (int k = 0; k < fn; k++) {
        entries += rows[i * width + k] != 0 ? 1 : 0;
      }
    }
    int[] owner = new int[count];
    Arrays.fill(owner, front);
    int[] start = new int[count + 1];
    int[] position = new int[entries];
    double[] value = new double[entries];
    double[] rhs = new double[count * rhsCount];
    int next = 0;
    for (int i = 0; i < count; i++) {
      for (int k = 0; k < fn; k++) {
        double x = rows[i * width + k];
        if (x != 0) {
          position[next] = analysis.column(front, k);
          value[next++] = x;
        }
      }
      start[i + 1] = next;
      System.arraycopy(rows, i * width + fn, rhs, i * rhsCount, rhsCount);
    }
    return new RowBlock(owner, start, position, value, rhs, rhsCount);
  }

  /** Size rhsCount: squares of the right-hand sides eliminated so far. */
  public double[] residualSquares() {
    return tall.residualSquares().clone();
  }

  /** Local column of a position. O(1) for pivots, O(log cn) for the others. */
  private int local(int position) {
    int fp = analysis.fp(front);
    int k = position - analysis.firstPivot(front);
    if (k >= 0 && k < fp) {
      return k;
    }
    int from = analysis.data().tailStart()[front];
    int to = analysis.data().tailStart()[front + 1];
    int at = Arrays.binarySearch(analysis.data().tailColumns(), from, to, position);
    if (at < 0) {
      throw new IllegalArgumentException(
          "position " + position + " is not a column of front " + front);
    }
    return fp + at - from;
  }
}
