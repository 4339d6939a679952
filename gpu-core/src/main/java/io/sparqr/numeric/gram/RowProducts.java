/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.gram;

import io.sparqr.threads.Crew;

/**
 * Products of a front's rows F with a few vectors in about twice the precision ({@link Pairs}): y =
 * B - F W row by row, and F'y, in one pass. Vectors are row-major, n x s. Pieces are summed in
 * fixed groups, so the bits do not depend on the number of threads. 8 s flops an entry and product.
 */
final class RowProducts {

  private static final int GROUPS = 8;

  private final RowPieces pieces;
  private final int n;
  private final int[] end = new int[GROUPS];

  RowProducts(RowPieces pieces, int n) {
    this.pieces = pieces;
    this.n = n;
    long all = 0;
    var piece = new RowPiece();
    for (int p = 0; p < pieces.count(); p++) {
      all += entries(piece, p);
    }
    int group = 0;
    long seen = 0;
    for (int p = 0; p < pieces.count(); p++) {
      seen += entries(piece, p);
      while (group < GROUPS && seen > all * group / GROUPS) {
        group++;
      }
      end[group - 1] = p + 1;
    }
    for (int g = 1; g < GROUPS; g++) {
      end[g] = Math.max(end[g], end[g - 1]);
    }
  }

  private long entries(RowPiece piece, int p) {
    pieces.piece(p, piece);
    long r = piece.rows;
    return r * piece.columns - r * (r - 1) / 2 + 1;
  }

  /** F'(F W), for W of n x s. */
  Pairs normal(double[] w, int s, Crew crew) {
    var part = new Pairs[GROUPS];
    crew.run(
        GROUPS,
        g -> {
          part[g] = new Pairs(n * s);
          normal(g, w, s, part[g]);
        });
    return sum(part);
  }

  /**
   * F'Y for the residuals Y = B - F W, rounded to double, and their squares.
   *
   * @param rhs the first so many of the s vectors have the rows' right-hand sides in B; in the
   *     others B is zero
   * @param squares size s, out
   */
  Pairs residuals(double[] w, int s, int rhs, double[] squares, Crew crew) {
    var part = new Pairs[GROUPS];
    var norms = new Pairs[GROUPS];
    crew.run(
        GROUPS,
        g -> {
          part[g] = new Pairs(n * s);
          norms[g] = new Pairs(s);
          residuals(g, w, s, rhs, part[g], norms[g]);
        });
    Pairs all = sum(norms);
    for (int q = 0; q < s; q++) {
      squares[q] = all.value(q);
    }
    return sum(part);
  }

  private static Pairs sum(Pairs[] part) {
    for (int g = 1; g < GROUPS; g++) {
      part[0].add(part[g]);
    }
    return part[0];
  }

  private void normal(int group, double[] w, int s, Pairs out) {
    var piece = new RowPiece();
    var y = new Pairs(s);
    for (int p = group == 0 ? 0 : end[group - 1]; p < end[group]; p++) {
      pieces.piece(p, piece);
      int at = piece.valueFrom;
      for (int i = 0; i < piece.rows; i++) {
        y.clear();
        multiply(piece, i, at, w, s, y);
        for (int k = i; k < piece.columns; k++) {
          out.add(piece.column[piece.columnFrom + k] * s, piece.value[at + k - i], y, 0, s);
        }
        at += piece.columns - i;
      }
    }
  }

  private void residuals(int group, double[] w, int s, int rhs, Pairs out, Pairs norms) {
    var piece = new RowPiece();
    var y = new Pairs(s);
    double[] minus = new double[s];
    for (int p = group == 0 ? 0 : end[group - 1]; p < end[group]; p++) {
      pieces.piece(p, piece);
      int at = piece.valueFrom;
      for (int i = 0; i < piece.rows; i++) {
        y.clear();
        for (int q = 0; q < rhs; q++) {
          y.high[q] = -piece.rhs[piece.rhsFrom + i * rhs + q];
        }
        multiply(piece, i, at, w, s, y);
        for (int q = 0; q < s; q++) {
          minus[q] = -y.value(q);
          norms.add(q, minus[q], minus, q, 1);
        }
        for (int k = i; k < piece.columns; k++) {
          out.add(piece.column[piece.columnFrom + k] * s, piece.value[at + k - i], minus, 0, s);
        }
        at += piece.columns - i;
      }
    }
  }

  private static void multiply(RowPiece piece, int i, int at, double[] w, int s, Pairs y) {
    for (int k = i; k < piece.columns; k++) {
      y.add(0, piece.value[at + k - i], w, piece.column[piece.columnFrom + k] * s, s);
    }
  }
}
