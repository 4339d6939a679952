/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.gram;

import io.sparqr.threads.Crew;
import java.util.Arrays;

/**
 * Products of the rows F of a tree of fronts with a few vectors in about twice the precision
 * ({@link Pairs}): y = B - F W row by row, and F'y, in one pass. Vectors are row-major, n x s.
 * Units of work are the chunks of the tree and fixed groups of the rows of its top, so the bits do
 * not depend on the number of threads. 8 s flops an entry and product.
 */
final class RowProducts {

  /** Groups of the rows that begin in the top. */
  static final int GROUPS = 8;

  private final RowPieces pieces;
  private final GramChunks chunks;

  /** By unit: pieces from, to, from, to, ... */
  private final int[][] ranges;

  RowProducts(RowPieces pieces, GramChunks chunks) {
    this.pieces = pieces;
    this.chunks = chunks;
    int parts = chunks.chunk.length;
    ranges = new int[parts + GROUPS][];
    for (int c = 0; c < parts; c++) {
      ranges[c] = ranges(chunks.chunk[c]);
    }
    cutTop(parts);
  }

  private int[] ranges(int[] fronts) {
    int[] range = new int[2 * fronts.length];
    int length = 0;
    for (int k : fronts) {
      length = extend(range, length, pieces.start(k), pieces.start(k + 1));
    }
    return Arrays.copyOf(range, length);
  }

  private static int extend(int[] range, int length, int from, int to) {
    if (length > 0 && range[length - 1] == from) {
      range[length - 1] = to;
      return length;
    }
    range[length] = from;
    range[length + 1] = to;
    return length + 2;
  }

  /** Groups of about equally many entries. */
  private void cutTop(int first) {
    int[] top = ranges(chunks.top);
    var piece = new RowPiece();
    long all = 0;
    for (int r = 0; r < top.length; r += 2) {
      for (int p = top[r]; p < top[r + 1]; p++) {
        all += entries(piece, p);
      }
    }
    int[] range = new int[top.length + 2];
    int length = 0;
    int group = 0;
    long seen = 0;
    for (int r = 0; r < top.length; r += 2) {
      for (int p = top[r]; p < top[r + 1]; p++) {
        length = extend(range, length, p, p + 1);
        seen += entries(piece, p);
        if (seen >= (all * (group + 1) + GROUPS - 1) / GROUPS && group < GROUPS - 1) {
          ranges[first + group++] = Arrays.copyOf(range, length);
          length = 0;
        }
      }
    }
    for (; group < GROUPS; group++) {
      ranges[first + group] = Arrays.copyOf(range, length);
      length = 0;
    }
  }

  private long entries(RowPiece piece, int p) {
    pieces.piece(p, piece);
    long r = piece.rows;
    return r * piece.columns - r * (r - 1) / 2 + 1;
  }

  /** Size n: the squares of the columns. */
  double[] squares(Crew crew) {
    var sums = new UnitSums(chunks, 1, ranges.length);
    double[] one = {1};
    crew.run(
        ranges.length,
        u -> {
          var to = sums.of(u);
          var piece = new RowPiece();
          for (int r = 0; r < ranges[u].length; r += 2) {
            for (int p = ranges[u][r]; p < ranges[u][r + 1]; p++) {
              pieces.piece(p, piece);
              int at = piece.valueFrom;
              for (int i = 0; i < piece.rows; i++) {
                for (int k = i; k < piece.columns; k++) {
                  double v = piece.value[at + k - i];
                  to.add(piece.column[piece.columnFrom + k], v * v, one);
                }
                at += piece.columns - i;
              }
            }
          }
        });
    return sums.sum().values();
  }

  /** Whether one of the columns with that square has an entry that is not zero. */
  boolean hasEntryWhere(double[] squares, double square) {
    var piece = new RowPiece();
    for (int p = 0; p < pieces.count(); p++) {
      pieces.piece(p, piece);
      int at = piece.valueFrom;
      for (int i = 0; i < piece.rows; i++) {
        for (int k = i; k < piece.columns; k++) {
          int j = piece.column[piece.columnFrom + k];
          if (piece.value[at + k - i] != 0 && squares[j] == square) {
            return true;
          }
        }
        at += piece.columns - i;
      }
    }
    return false;
  }

  /** F'(F W), for W of n x s. */
  Pairs normal(double[] w, int s, Crew crew) {
    var sums = new UnitSums(chunks, s, ranges.length);
    crew.run(
        ranges.length,
        u -> {
          var to = sums.of(u);
          var piece = new RowPiece();
          var y = new PairColumn(s);
          var x = new double[s];
          var pair = new Pairs(y.high, y.low);
          for (int r = 0; r < ranges[u].length; r += 2) {
            for (int p = ranges[u][r]; p < ranges[u][r + 1]; p++) {
              pieces.piece(p, piece);
              normal(piece, w, x, y, pair, to);
            }
          }
        });
    return sums.sum();
  }

  private static void normal(
      RowPiece piece, double[] w, double[] x, PairColumn y, Pairs pair, UnitSums.View to) {
    int at = piece.valueFrom;
    for (int i = 0; i < piece.rows; i++) {
      pair.clear();
      multiply(piece, i, at, w, x, y);
      for (int k = i; k < piece.columns; k++) {
        to.add(piece.column[piece.columnFrom + k], piece.value[at + k - i], pair);
      }
      at += piece.columns - i;
    }
  }

  /**
   * F'Y for the residuals Y = B - F W, rounded to double, and their squares.
   *
   * @param b which right-hand sides of the rows the first of the s vectors have in B; in the others
   *     B is zero
   * @param squares size s, out
   */
  Pairs residuals(double[] w, int s, Sides b, double[] squares, Crew crew) {
    var sums = new UnitSums(chunks, s, ranges.length);
    var norms = new Pairs[ranges.length];
    crew.run(
        ranges.length,
        u -> {
          norms[u] = new Pairs(s);
          var to = sums.of(u);
          var work = new Residual(w, s, b, norms[u], to);
          var piece = new RowPiece();
          for (int r = 0; r < ranges[u].length; r += 2) {
            for (int p = ranges[u][r]; p < ranges[u][r + 1]; p++) {
              pieces.piece(p, piece);
              work.add(piece);
            }
          }
        });
    for (int u = 1; u < norms.length; u++) {
      norms[0].add(norms[u]);
    }
    for (int q = 0; q < s; q++) {
      squares[q] = norms[0].value(q);
    }
    return sums.sum();
  }

  /**
   * Right-hand sides of rows that have several.
   *
   * @param from the first
   * @param count how many
   * @param all those of a row
   */
  record Sides(int from, int count, int all) {}

  /** The residuals of one unit. */
  private static final class Residual {

    private final double[] w;
    private final int s;
    private final Sides b;
    private final Pairs norms;
    private final UnitSums.View to;
    private final PairColumn y;
    private final double[] x;
    private final double[] minus;

    Residual(double[] w, int s, Sides b, Pairs norms, UnitSums.View to) {
      this.w = w;
      this.s = s;
      this.b = b;
      this.norms = norms;
      this.to = to;
      y = new PairColumn(s);
      x = new double[s];
      minus = new double[s];
    }

    void add(RowPiece piece) {
      int at = piece.valueFrom;
      for (int i = 0; i < piece.rows; i++) {
        Arrays.fill(y.high, 0);
        Arrays.fill(y.low, 0);
        int first = piece.rhsFrom + i * b.all + b.from;
        for (int q = 0; q < b.count; q++) {
          y.high[q] = -piece.rhs[first + q];
        }
        multiply(piece, i, at, w, x, y);
        for (int q = 0; q < s; q++) {
          minus[q] = -(y.high[q] + y.low[q]);
          norms.add(q, minus[q], minus, q, 1);
        }
        for (int k = i; k < piece.columns; k++) {
          to.add(piece.column[piece.columnFrom + k], piece.value[at + k - i], minus);
        }
        at += piece.columns - i;
      }
    }
  }

  /** y += row i of the piece times W; x is work. */
  private static void multiply(
      RowPiece piece, int i, int at, double[] w, double[] x, PairColumn y) {
    int s = x.length;
    for (int k = i; k < piece.columns; k++) {
      System.arraycopy(w, piece.column[piece.columnFrom + k] * s, x, 0, s);
      y.add(piece.value[at + k - i], 0, x, s);
    }
  }
}
