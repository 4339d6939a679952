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

  private static final int STRIPS = 8;

  /** Fewer columns are one strip. */
  private static final int LEAST_STRIP = 64;

  /** Rows and columns of a square that is transposed at a time. */
  private static final int TILE = 32;

  private final DenseKernels kernels;
  private final int n;
  private final int ld;
  private final double[] a;

  /** By column of the pieces: that of the front. */
  private final int[] place;

  /** Low parts of the diagonal. */
  private final double[] low;

  /** Into a zeroed column-major array; places ascend with the pieces' columns. */
  GramMatrix(DenseKernels kernels, int n, int[] place, double[] array, int ld) {
    this.place = place;
    this.kernels = kernels;
    this.n = n;
    this.ld = ld;
    this.a = array;
    this.low = new double[n];
  }

  /** Adds rows. */
  void sum(RowPieces pieces, Crew crew) {
    // The last columns have the most products.
    crew.run(strips(), s -> add(pieces, begin(strips() - 1 - s), begin(strips() - s)));
  }

  /** Entry (i, j), i at most j, += x, rounded. */
  void addRounded(int i, int j, double x) {
    a[i + j * ld] += x;
  }

  /** Rounds: the upper triangle is G, the lower one zero. */
  void round(Crew crew) {
    crew.run(strips(), s -> round(begin(s), begin(s + 1)));
    crew.run(strips(), s -> clear(begin(s), begin(s + 1)));
  }

  /** As above, where nothing has been added in twice the precision but these pieces of few rows. */
  void roundOnly(RowPieces pieces) {
    var piece = new RowPiece();
    for (int p = 0; p < pieces.count(); p++) {
      pieces.piece(p, piece);
      for (int k = 0; k < piece.columns; k++) {
        int j = place[piece.column[piece.columnFrom + k]];
        for (int l = 0; l < k; l++) {
          int i = place[piece.column[piece.columnFrom + l]];
          a[i + j * ld] += a[j + i * ld];
          a[j + i * ld] = 0;
        }
        a[j + j * ld] += low[j];
        low[j] = 0;
      }
    }
  }

  private int strips() {
    return n <= LEAST_STRIP ? 1 : Math.max(STRIPS, (n + STRIP - 1) / STRIP);
  }

  private int begin(int strip) {
    return (int) ((long) n * strip / strips());
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
  private int place(RowPiece piece, int k) {
    int low = 0;
    int high = piece.columns;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (place[piece.column[piece.columnFrom + middle]] < k) {
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
        int col = place[column[base + k]];
        for (int j = i; j <= k; j++) {
          double u = piece.value[at + j - i];
          double x = u * v;
          add(place[column[base + j]], col, x, Math.fma(u, v, -x));
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
      int col = place[piece.column[piece.columnFrom + k]];
      for (int j = 0; j <= k; j++) {
        add(
            place[piece.column[piece.columnFrom + j]],
            col,
            work[product + j + (k - first) * end],
            0);
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
  void add(int i, int j, double x, double y) {
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
    for (int top = 0; top < to; top += TILE) {
      for (int left = from; left < to; left += TILE) {
        for (int j = left; j < Math.min(to, left + TILE); j++) {
          for (int i = top; i < Math.min(j, top + TILE); i++) {
            a[i + j * ld] += a[j + i * ld];
          }
        }
      }
    }
    for (int j = from; j < to; j++) {
      a[j + j * ld] += low[j];
    }
  }

  private void clear(int from, int to) {
    for (int j = from; j < to; j++) {
      Arrays.fill(a, j * ld + j + 1, j * ld + n, 0);
    }
  }
}
