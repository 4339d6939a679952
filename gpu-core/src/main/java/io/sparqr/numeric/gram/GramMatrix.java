/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.gram;

import io.sparqr.numeric.dense.ColumnStrips;
import io.sparqr.numeric.dense.DenseKernels;
import io.sparqr.symbolic.GramWork;
import io.sparqr.threads.Crew;
import java.util.Arrays;

/**
 * G = F'F of a front's rows, its upper triangle, accumulated in twice the precision strip by strip.
 * Pieces of few rows are added product by product, exactly; of larger ones (children's triangles)
 * the product is formed in double first: what that loses is measured later, with all else. Each
 * entry's terms are added in the order of the pieces, then of the children, so the bits do not
 * depend on the number of threads.
 */
final class GramMatrix {

  /** Rows of a piece whose product is formed at a time. */
  private static final int BLOCK = 256;

  /** Columns of a strip: threads share strips. */
  private static final int STRIP = 256;

  private static final int STRIPS = 8;

  /** Fewer columns are one strip. */
  private static final int LEAST_STRIP = 64;

  private final DenseKernels kernels;
  private final int n;
  private final ColumnStrips a;

  /** By column of the pieces: that of the front. */
  private final int[] place;

  private final int strips;

  /** Into zeros; places ascend with the pieces' columns. */
  GramMatrix(DenseKernels kernels, int n, int[] place, ColumnStrips array) {
    this.place = place;
    this.kernels = kernels;
    this.n = n;
    this.a = array;
    strips = strips(n);
  }

  private static int strips(int n) {
    return n <= LEAST_STRIP ? 1 : Math.max(STRIPS, (n + STRIP - 1) / STRIP);
  }

  /** Doubles of the low parts that are there together, besides the matrix; all, if they wait. */
  static long lowLength(int n, boolean wait) {
    long all = GramStrip.length(n);
    return wait ? all : Math.min(all, (long) STRIPS * STRIP * n);
  }

  private int begin(int strip) {
    return (int) ((long) n * strip / strips);
  }

  /** Sums products of rows, and what children add to them or take away; the result is rounded. */
  void sum(RowPieces pieces, GramChildren children, Crew crew) {
    int[] stripOf = new int[n];
    for (int s = 0; s < strips; s++) {
      Arrays.fill(stripOf, begin(s), begin(s + 1), s);
    }
    var lists = new PiecesByStrip(pieces, place, stripOf, strips);
    var thinLists = new PiecesByStrip(children.sparse(), place, stripOf, strips);
    boolean wait = children.hasProducts();
    var strip = new GramStrip[strips];
    crew.run(
        strips,
        k -> {
          // The last columns have the most products.
          int s = strips - 1 - k;
          var sum = new GramStrip(a, begin(s), begin(s + 1));
          add(pieces, lists, s, sum);
          children.add(sum);
          children.subtract(thinLists, s, sum);
          if (wait) {
            strip[s] = sum;
          } else {
            sum.round();
          }
        });
    if (wait) {
      children.subtractProducts(strip, crew);
      crew.run(strips, s -> strip[s].round());
    }
  }

  /** Adds what the pieces have in the columns of a strip. */
  private void add(RowPieces pieces, PiecesByStrip lists, int s, GramStrip sum) {
    var piece = new RowPiece();
    double[] square = RowPiece.NO_VALUES;
    for (int k = 0; k < lists.count(s); k++) {
      pieces.piece(lists.piece(s, k), piece);
      if (piece.rows == 0) {
        continue;
      }
      int first = place(piece, sum.from);
      int end = place(piece, sum.to);
      if (first == end) {
        continue;
      }
      if (piece.rows <= GramWork.FEW_ROWS) {
        addRows(piece, first, end, sum);
      } else {
        int length = BLOCK * (piece.columns + 1) + end * (end - first + 1);
        square = square.length < length ? new double[length] : square;
        addProduct(piece, first, end, square, sum);
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

  private void addRows(RowPiece piece, int first, int end, GramStrip sum) {
    int[] column = piece.column;
    int base = piece.columnFrom;
    int at = piece.valueFrom;
    for (int i = 0; i < piece.rows; i++) {
      // Value of the row in the piece's column k: value[at + k - i].
      for (int k = Math.max(i, first); k < end; k++) {
        double v = piece.value[at + k - i];
        sum.column(place[column[base + k]]);
        for (int j = i; j <= k; j++) {
          double u = piece.value[at + j - i];
          double x = u * v;
          sum.add(place[column[base + j]], x, Math.fma(u, v, -x));
        }
      }
      at += piece.columns - i;
    }
  }

  private void addProduct(RowPiece piece, int first, int end, double[] work, GramStrip sum) {
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
      sum.column(place[piece.column[piece.columnFrom + k]]);
      for (int j = 0; j <= k; j++) {
        int row = place[piece.column[piece.columnFrom + j]];
        sum.add(row, work[product + j + (k - first) * end], 0);
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
}
