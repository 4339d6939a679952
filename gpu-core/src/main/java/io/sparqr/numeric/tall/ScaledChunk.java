/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.tall;

import io.sparqr.threads.Parallel;
import java.util.Arrays;

/**
 * The values of a chunk, its columns scaled by powers of two so that no norm is above 1: backends
 * need not look at norms again, and no unit of a column leaves the range of doubles. A bound of the
 * norms, by the largest values, is enough.
 */
final class ScaledChunk {

  /** Values that are worth a thread. */
  private static final int GRAIN = 1 << 18;

  /** Columns below this bound are scaled up. */
  private static final double SMALL = 0x1p-100;

  private static final int MOST_EXPONENT = 1021;

  private final ChunkReducer reducer;
  private final int columns;
  final double[] value;
  private final double[] scale;

  /** By column: the largest magnitude of the new rows, scaled; the square of the bound before. */
  private final double[] largest;

  private final double[] squares;
  private int filled;

  ScaledChunk(ChunkReducer reducer) {
    this.reducer = reducer;
    columns = reducer.columns();
    value = new double[reducer.values()];
    scale = new double[columns];
    largest = new double[columns];
    squares = new double[columns];
    Arrays.fill(scale, 1);
  }

  int filled() {
    return filled;
  }

  boolean isFull() {
    return filled == reducer.rows();
  }

  /** Copies rows that fit. */
  void add(double[] a, int from, int count) {
    copy(a, from, count);
    if (backToOwnUnits()) {
      copy(a, from, count);
    }
    filled += count;
  }

  /** A column that was scaled up may become too large for that: it gets its own units again. */
  private boolean backToOwnUnits() {
    double[] factor = new double[0];
    for (int k = 0; k < columns; k++) {
      if (largest[k] == Double.POSITIVE_INFINITY && scale[k] > 1) {
        if (factor.length == 0) {
          factor = new double[columns];
          Arrays.fill(factor, 1);
        }
        factor[k] = 1 / scale[k];
        scale[k] = 1;
        largest[k] = Double.MAX_VALUE * factor[k];
        squares[k] *= factor[k] * factor[k];
      }
    }
    if (factor.length == 0) {
      return false;
    }
    scale(factor);
    return true;
  }

  private void copy(double[] a, int from, int count) {
    int place = reducer.triangle() + filled * columns;
    Parallel.loop(
        count,
        Math.max(1, GRAIN / columns),
        reducer.threads(),
        (begin, end, t) -> copy(a, from, place, begin, end));
  }

  private void copy(double[] a, int from, int place, int begin, int end) {
    double[] most = new double[columns];
    for (int i = begin; i < end; i++) {
      int source = from + i * columns;
      int target = place + i * columns;
      for (int k = 0; k < columns; k++) {
        double x = a[source + k] * scale[k];
        value[target + k] = x;
        most[k] = Math.max(most[k], Math.abs(x));
      }
    }
    synchronized (largest) {
      for (int k = 0; k < columns; k++) {
        largest[k] = Math.max(largest[k], most[k]);
      }
    }
  }

  /** A copy of a row, as it was given, if nothing has been reduced. */
  void row(int i, double[] row) {
    System.arraycopy(value, reducer.triangle() + i * columns, row, 0, columns);
  }

  /** Fills up with rows of zeros, scales, and reduces. */
  void reduce() {
    Arrays.fill(value, reducer.triangle() + filled * columns, value.length, 0);
    double[] factor = new double[columns];
    Arrays.fill(factor, 1);
    boolean any = false;
    for (int k = 0; k < columns; k++) {
      double bound = Math.hypot(Math.sqrt(squares[k]), largest[k] * Math.sqrt(filled));
      if (bound > 1 || bound > 0 && bound < SMALL) {
        int before = Math.getExponent(scale[k]);
        int wanted = before - (bound > Double.MAX_VALUE ? 1024 : Math.getExponent(bound)) - 1;
        int e = Math.max(-MOST_EXPONENT, Math.min(MOST_EXPONENT, wanted)) - before;
        factor[k] = Math.scalb(1.0, e);
        scale[k] *= factor[k];
        bound *= factor[k];
        any |= e != 0;
      }
      squares[k] = bound * bound;
      largest[k] = 0;
    }
    if (any) {
      scale(factor);
    }
    filled = 0;
    reducer.reduce(value);
  }

  private void scale(double[] factor) {
    int at = 0;
    for (int i = 0; i < columns; i++) {
      for (int k = i; k < columns; k++) {
        value[at++] *= factor[k];
      }
    }
    int place = at;
    Parallel.loop(
        reducer.rows(),
        Math.max(1, GRAIN / columns),
        reducer.threads(),
        (begin, end, t) -> {
          for (int i = begin; i < end; i++) {
            int target = place + i * columns;
            for (int k = 0; k < columns; k++) {
              value[target + k] *= factor[k];
            }
          }
        });
  }

  /** The triangle, column-major, in the columns' own units. */
  double[] triangle() {
    double[] r = new double[columns * columns];
    int at = 0;
    for (int i = 0; i < columns; i++) {
      for (int k = i; k < columns; k++) {
        r[i + k * columns] = value[at++] / scale[k];
      }
    }
    return r;
  }

  /** As new. */
  void clear() {
    Arrays.fill(value, 0, reducer.triangle(), 0);
    Arrays.fill(scale, 1);
    Arrays.fill(largest, 0);
    Arrays.fill(squares, 0);
    filled = 0;
  }
}
