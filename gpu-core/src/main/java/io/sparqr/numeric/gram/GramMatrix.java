/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.gram;

import io.sparqr.numeric.dense.DenseKernels;
import io.sparqr.symbolic.GramWork;
import io.sparqr.threads.Crew;
import java.util.Arrays;

/**
 * G = F'F of a front's rows, accumulated in twice the precision in the two triangles of one array:
 * high parts in the upper one, low parts in the lower. Pieces of few rows are added product by
 * product, exactly; of larger ones (children's triangles) the product is formed in double first:
 * what that loses is measured later, with all else. Each entry's terms are added in the order of
 * the pieces, so the bits do not depend on the number of threads.
 */
final class GramMatrix {

  /** Rows of a piece whose product is formed at a time. */
  private static final int BLOCK = 256;

  /** Columns of a strip: threads share strips. */
  private static final int STRIP = 256;

  private final DenseKernels kernels;
  private final int n;
  private final int ld;
  private final double[] a;

  /** Low parts of the diagonal. */
  private final double[] low;

  /** Into a zeroed column-major array. */
  GramMatrix(DenseKernels kernels, int n, double[] array, int ld) {
    this.kernels = kernels;
    this.n = n;
    this.ld = ld;
    this.a = array;
    this.low = new double[n];
  }

  /** Adds all rows, then rounds: the upper triangle is G, the lower one zero. */
  void sum(RowPieces pieces, Crew crew) {
    int strips = (n + STRIP - 1) / STRIP;
    crew.run(strips, s -> add(pieces, (strips - 1 - s) * STRIP, end(strips - 1 - s)));
    crew.run(strips, s -> round(s * STRIP, end(s)));
    crew.run(strips, s -> clear(s * STRIP, end(s)));
  }

  private int end(int strip) {
    return Math.min(n, (strip + 1) * STRIP);
  }

  /** Adds what the pieces have in columns [from, to). */
  private void add(RowPieces pieces, int from, int to) {
    var piece = new RowPiece();
    double[] square = RowPiece.NO_VALUES;
    for (int p = 0; p < pieces.count(); p++) {
      pieces.piece(p, piece);
      if (piece.rows == 0) {
        continue;
      }
      int first = place(piece, from);
      int end = place(piece, to);
      if (first == end) {
        continue;
      }
      if (piece.rows <= GramWork.FEW_ROWS) {
        addRows(piece, first, end);
      } else {
        int length = BLOCK * (piece.columns + 1) + end * (end - first + 1);
        square = square.length < length ? new double[length] : square;
        addProduct(piece, first, end, square);
      }
    }
  }

  /** The place of the first of the piece's columns that is at least k. */
  private static int place(RowPiece piece, int k) {
    int low = 0;
    int high = piece.columns;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (piece.column[piece.columnFrom + middle] < k) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  private void addRows(RowPiece piece, int first, int end) {
    int[] column = piece.column;
    int base = piece.columnFrom;
    int at = piece.valueFrom;
    for (int i = 0; i < piece.rows; i++) {
      // Value of the row in the piece's column k: value[at + k - i].
      for (int k = Math.max(i, first); k < end; k++) {
        double v = piece.value[at + k - i];
        int col = column[base + k];
        for (int j = i; j <= k; j++) {
          double u = piece.value[at + j - i];
          double x = u * v;
          add(column[base + j], col, x, Math.fma(u, v, -x));
        }
      }
      at += piece.columns - i;
    }
  }

  private void addProduct(RowPiece piece, int first, int end, double[] work) {
    int product = BLOCK * (piece.columns + 1);
    for (int from = 0; from < Math.min(piece.rows, end); from += BLOCK) {
      int r = Math.min(BLOCK, piece.rows - from);
      // The block's rows have entries in columns from .. end - 1.
      unpack(piece, from, r, end, work);
      int high = end - from;
      int begin = Math.max(first, from);
      int at = product + from + (begin - first) * end;
      double beta = from == 0 ? 0 : 1;
      double[] w = work;
      kernels.gemm(
          true, high, end - begin, r, 1, w, 0, r, w, (begin - from) * r, r, beta, w, at, end);
    }
    for (int k = first; k < end; k++) {
      int col = piece.column[piece.columnFrom + k];
      for (int j = 0; j <= k; j++) {
        add(piece.column[piece.columnFrom + j], col, work[product + j + (k - first) * end], 0);
      }
    }
  }

  /** Rows [from, from + r) of a piece in columns [from, end), column-major. */
  private static void unpack(RowPiece piece, int from, int r, int end, double[] work) {
    Arrays.fill(work, 0, r * (end - from), 0);
    int c = piece.columns;
    for (int i = from; i < from + r; i++) {
      int at = piece.valueFrom + i * c - i * (i - 1) / 2 - i;
      for (int k = i; k < end; k++) {
        work[i - from + (k - from) * r] = piece.value[at + k];
      }
    }
  }

  /** Entry (i, j), i at most j, += x + y. */
  private void add(int i, int j, double x, double y) {
    int at = i + j * ld;
    double old = a[at];
    double sum = old + x;
    double b = sum - old;
    double error = ((old - (sum - b)) + (x - b)) + y;
    a[at] = sum;
    if (i == j) {
      low[i] += error;
    } else {
      a[j + i * ld] += error;
    }
  }

  private void round(int from, int to) {
    for (int j = from; j < to; j++) {
      for (int i = 0; i < j; i++) {
        a[i + j * ld] += a[j + i * ld];
      }
      a[j + j * ld] += low[j];
    }
  }

  private void clear(int from, int to) {
    for (int j = from; j < to; j++) {
      Arrays.fill(a, j * ld + j + 1, j * ld + n, 0);
    }
  }
}
