/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.solve;

import io.sparqr.numeric.BitChecksum;
import io.sparqr.numeric.dense.BlasLoader;
import io.sparqr.numeric.dense.DenseKernels;
import io.sparqr.spark.stored.FactorSegment;
import io.sparqr.threads.Crew;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Solves of many vectors with one front's rows of R, by BLAS: a block of rows is copied into a
 * matrix, and then each thread solves for some of the vectors. 2 flops per entry and vector; the
 * vectors are read once for {@value #ROWS} rows.
 */
final class WideFront {

  /** From so many vectors and entries of R on it pays to copy the rows. */
  private static final int WIDE = 32;

  private static final int LARGE = 1 << 12;

  /** Rows of a block. */
  private static final int ROWS = 256;

  /** Rows whose triangle is solved without BLAS. */
  private static final int SMALL = 32;

  /** Vectors that one thread solves for at a time. */
  private static final int VECTORS = 128;

  /** Columns that are transposed at a time. */
  private static final int TILE = 64;

  private final int width;
  private final int fn;
  private final double[] v;
  private final DenseKernels kernels = BlasLoader.kernels();

  /** A block of rows and its matrix. */
  private final FactorSegment rows;

  private int from;
  private int to;
  private int first;
  private int end;
  private double[] matrix = new double[0];

  private WideFront(FactorSegment rows, int width, int fn, double[] v) {
    this.rows = rows;
    this.width = width;
    this.fn = fn;
    this.v = v;
  }

  /** Whether a front is large enough. */
  static boolean pays(int width, long rank, int fn) {
    return width >= WIDE && rank * fn >= LARGE;
  }

  /**
   * R x = c for the rows of a segment.
   *
   * @param v fn x width, and room for one more column: x to the right of the rows' pivots, c
   *     elsewhere; receives x
   * @return sum of the rows' mixed bits, 0 if they are checked already
   */
  static long back(FactorSegment segment, int width, int fn, double[] v, Crew crew) {
    var front = new WideFront(segment, width, fn, v);
    long read = 0;
    for (int to = segment.rows(); to > 0; to -= ROWS) {
      front.block(Math.max(0, to - ROWS), to);
      read += front.copy(crew);
      front.run(front::back, crew);
    }
    return read;
  }

  /**
   * R'y = c for the rows of a segment.
   *
   * @param v fn x width, and room for one more column: c; receives y at the pivots and the
   *     remainder of c elsewhere
   */
  static void forward(FactorSegment segment, int width, int fn, double[] v, Crew crew) {
    var front = new WideFront(segment, width, fn, v);
    for (int from = 0; from < segment.rows(); from += ROWS) {
      front.block(from, Math.min(segment.rows(), from + ROWS));
      front.transpose(crew);
      front.run(front::forward, crew);
    }
  }

  private void block(int begin, int stop) {
    from = begin;
    to = stop;
    first = rows.livePivot(begin);
    end = rows.livePivot(stop - 1) + 1;
    int count = stop - begin;
    // netlib wants operands that end with a whole column
    int length = Math.multiplyExact(count, fn - first) + Math.max(count, fn - first);
    matrix = matrix.length < length ? new double[length] : matrix;
  }

  private interface Piece {
    void solve(int vector, int count);
  }

  private void run(Piece piece, Crew crew) {
    int pieces = (width + VECTORS - 1) / VECTORS;
    crew.run(pieces, p -> piece.solve(p * VECTORS, Math.min(VECTORS, width - p * VECTORS)));
  }

  /** Copies the block's rows, each as a column of the matrix; returns the sum of their bits. */
  private long copy(Crew crew) {
    var read = new AtomicLong();
    int ld = fn - first;
    inPieces(
        crew,
        (begin, stop, row) -> {
          long sum = 0;
          for (int i = begin; i < stop; i++) {
            int pivot = rows.livePivot(i);
            rows.row(i, pivot, fn, row);
            sum += rows.unchecked() ? BitChecksum.sum(row, 0, fn - pivot) : 0;
            System.arraycopy(row, 0, matrix, (i - from) * ld + pivot - first, fn - pivot);
          }
          read.addAndGet(sum);
        });
    return read.get();
  }

  /**
   * Copies the block's rows, each as a row of the matrix, a few columns at a time, so that what is
   * written stays in the cache.
   */
  private void transpose(Crew crew) {
    int count = to - from;
    inPieces(
        crew,
        (begin, stop, row) -> {
          for (int c = first; c < fn; c += TILE) {
            int last = Math.min(fn, c + TILE);
            for (int i = begin; i < stop; i++) {
              int at = Math.max(c, rows.livePivot(i));
              if (at < last) {
                rows.row(i, at, last, row);
              }
              for (int j = at; j < last; j++) {
                matrix[(j - first) * count + i - from] = row[j - at];
              }
            }
          }
        });
  }

  private interface Rows {
    void copy(int begin, int stop, double[] row);
  }

  private void inPieces(Crew crew, Rows some) {
    int pieces = (to - from + SMALL - 1) / SMALL;
    crew.run(
        pieces,
        p -> {
          int begin = from + p * SMALL;
          some.copy(begin, Math.min(to, begin + SMALL), new double[fn]);
        });
  }

  private void back(int vector, int m) {
    int ld = fn - first;
    int count = to - from;
    double[] sum = new double[m * count];
    for (int i = 0; i < count; i++) {
      System.arraycopy(v, rows.livePivot(from + i) * width + vector, sum, i * m, m);
    }
    if (fn > end) {
      int right = end * width + vector;
      kernels.gemm(
          false, m, count, fn - end, -1, v, right, width, matrix, end - first, ld, 1, sum, 0, m);
    }
    for (int stop = to; stop > from; stop -= SMALL) {
      int begin = Math.max(from, stop - SMALL);
      int right = rows.livePivot(stop - 1) + 1;
      int at = (begin - from) * ld + right - first;
      if (end > right) {
        int x = right * width + vector;
        int sums = (begin - from) * m;
        kernels.gemm(
            false, m, stop - begin, end - right, -1, v, x, width, matrix, at, ld, 1, sum, sums, m);
      }
      for (int i = stop - 1; i >= begin; i--) {
        int pivot = rows.livePivot(i);
        int row = (i - from) * ld - first;
        for (int j = pivot + 1; j < right; j++) {
          subtract(matrix[row + j], v, j * width + vector, sum, (i - from) * m, m);
        }
        divide(sum, (i - from) * m, matrix[row + pivot], v, pivot * width + vector, m);
      }
    }
  }

  private void forward(int vector, int m) {
    int count = to - from;
    if (isZero(vector, m)) {
      return;
    }
    double[] y = new double[m * count];
    for (int begin = from; begin < to; begin += SMALL) {
      int stop = Math.min(to, begin + SMALL);
      int right = rows.livePivot(stop - 1) + 1;
      for (int i = begin; i < stop; i++) {
        int pivot = rows.livePivot(i);
        int at = (i - from) * m;
        int row = i - from - first * count;
        int x = pivot * width + vector;
        divide(v, x, matrix[row + pivot * count], v, x, m);
        System.arraycopy(v, x, y, at, m);
        for (int j = pivot + 1; j < right; j++) {
          subtract(matrix[row + j * count], y, at, v, j * width + vector, m);
        }
      }
      product(begin, stop, right, end, vector, m, y);
    }
    product(from, to, end, fn, vector, m, y);
  }

  /** v in columns [left, right) minus y times rows [begin, stop). */
  private void product(int begin, int stop, int left, int right, int vector, int m, double[] y) {
    if (right <= left) {
      return;
    }
    int count = to - from;
    int at = (left - first) * count + begin - from;
    int x = left * width + vector;
    int k = stop - begin;
    kernels.gemm(
        false, m, right - left, k, -1, y, (begin - from) * m, m, matrix, at, count, 1, v, x, width);
  }

  /** Whether the block's pivots have no value for some vectors. */
  private boolean isZero(int vector, int m) {
    for (int i = from; i < to; i++) {
      int at = rows.livePivot(i) * width + vector;
      for (int k = at; k < at + m; k++) {
        if (v[k] != 0) {
          return false;
        }
      }
    }
    return true;
  }

  private static void subtract(double a, double[] x, int xAt, double[] y, int yAt, int m) {
    if (a != 0) {
      for (int k = 0; k < m; k++) {
        y[yAt + k] -= a * x[xAt + k];
      }
    }
  }

  private static void divide(double[] x, int xAt, double by, double[] y, int yAt, int m) {
    for (int k = 0; k < m; k++) {
      y[yAt + k] = x[xAt + k] / by;
    }
  }
}
