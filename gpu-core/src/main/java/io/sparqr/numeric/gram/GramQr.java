/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.gram;

import io.sparqr.numeric.dense.DenseKernels;
import io.sparqr.numeric.dense.StaircaseQr;
import io.sparqr.symbolic.GramWork;
import io.sparqr.threads.Crew;
import java.util.Arrays;
import java.util.function.DoubleConsumer;

/**
 * The upper trapezoid of a front, with its part of Q'b, by way of F'F: for fronts of many sparse
 * rows, where it costs a fraction of what reflectors cost. Nothing is believed: the trapezoid is
 * measured against the rows in twice the precision ({@link GramMeasure}), and returned only if its
 * backward error is that of a Householder factorization, column by column; else the caller has the
 * rows still and uses reflectors.
 *
 * <p>Columns that depend on earlier ones are not decided by a pivot of F'F, which has no digits
 * there. Their remainder is computed from the rows, in twice the precision, as the residual of a
 * least squares problem, and they are given up only if it is as small as the rank test asks. The
 * right-hand sides are residuals of the same kind (corrected semi-normal equations: Bj&ouml;rck,
 * Linear Algebra Appl. 88/89, 1987): y = b - Fx and Q'b = Rx + R^-T F'y, until y does not change.
 */
public final class GramQr {

  /**
   * Largest backward error of a column that is taken, relative to its norm: four times what
   * reflectors leave by the same measure, 2 eps in fronts of 200 columns, 3 in those of 1000.
   */
  static double allowed(int n) {
    return Math.min(64, Math.max(8, Math.sqrt(n) / 2)) * Math.ulp(1.0);
  }

  /** Columns in a front that may depend on earlier ones. */
  private static final int MOST_WEAK = 24;

  /** Corrections of a residual. */
  private static final int CORRECTIONS = 4;

  /** What the last correction of Q'b may be, relative to b. */
  private static final double SETTLED = 0x1p-30;

  /** Squares of columns beyond this or its inverse may have lost parts of products. */
  private static final double LARGE = 0x1p600;

  private final DenseKernels kernels;
  private final RowPieces pieces;
  private final int n;
  private final int rhs;
  private final int ld;
  private final double[] a;
  private int held;
  private int[] stair = {};
  private double[] squares = {};
  private double dropped;
  private double error;
  private String refused = "";

  private GramQr(DenseKernels kernels, RowPieces pieces, int n, int rhs) {
    this.kernels = kernels;
    this.pieces = pieces;
    this.n = n;
    this.rhs = rhs;
    this.ld = n % 512 == 0 ? n + 8 : n;
    this.a = new double[Math.toIntExact(StaircaseQr.length(ld, n + rhs))];
  }

  /**
   * Factors.
   *
   * @param pieces the front's rows, which may be read often
   * @param n columns of the front
   * @param rhs right-hand sides of the rows
   * @param tested leading columns whose remaining norm is compared with the tolerance
   * @param tolerance a column with at most this remaining norm is dead; negative: none is
   * @param heard hears the finished fraction, from the calling thread, while F'F is factored
   * @return the result, or the reason for none in {@link #refused}
   */
  public static GramQr factor(
      DenseKernels kernels,
      RowPieces pieces,
      int n,
      int rhs,
      int tested,
      double tolerance,
      DoubleConsumer heard,
      Crew crew) {
    var qr = new GramQr(kernels, pieces, n, rhs);
    qr.refused = qr.run(tested, tolerance, heard, crew);
    return qr;
  }

  /**
   * Flops, those in twice the precision and the scattered ones by the time that they take beside
   * those of reflectors, if R is accepted as it comes.
   */
  public static double cost(RowPieces pieces, int n, int rhs) {
    double sum = GramWork.triangle(n, rhs);
    var piece = new RowPiece();
    for (int p = 0; p < pieces.count(); p++) {
      pieces.piece(p, piece);
      sum += GramWork.piece(piece.rows, piece.columns, rhs);
    }
    return sum;
  }

  /** Whether an array holds the trapezoid. */
  public static boolean fits(int n, int rhs) {
    return StaircaseQr.length(n + 8L, (long) n + rhs) <= Integer.MAX_VALUE - 8;
  }

  /** Bytes, at most, besides the rows. */
  public static long bytes(int n, int rhs) {
    long vectors = Math.max(GramMeasure.VECTORS, rhs + MOST_WEAK);
    return 8L * n * (n + rhs + 1L) + 8L * n * vectors * 24;
  }

  private String run(int tested, double tolerance, DoubleConsumer heard, Crew crew) {
    new GramMatrix(kernels, n, a, ld).sum(pieces, crew);
    String range = outOfRange();
    if (!range.isEmpty()) {
      return range;
    }
    var factor = new GramCholesky(kernels, n, a, ld);
    if (!factor.factor(MOST_WEAK, part -> heard.accept(part / 2), crew)) {
      return "more than " + MOST_WEAK + " weak columns";
    }
    if (factor.weakCount() > 0 && tolerance < 0) {
      return "a weak column, and no rank test";
    }
    var triangle = new GramTriangle(n, a, ld, factor);
    var products = new RowProducts(pieces, n);
    error = GramMeasure.worst(triangle, products, factor, allowed(n), crew);
    if (!(error <= allowed(n))) {
      return "backward error " + error;
    }
    String why = settle(triangle, products, factor, tested, tolerance, crew);
    if (why.isEmpty()) {
      compress(factor);
    }
    return why;
  }

  /** A column whose squares may have left the range of doubles; empty if there is none. */
  private String outOfRange() {
    boolean zero = false;
    for (int j = 0; j < n; j++) {
      double square = a[j + j * ld];
      zero |= square == 0;
      if (square != 0 && !(square <= LARGE && square >= 1 / LARGE)) {
        return "column " + j + " has the square " + square;
      }
    }
    var piece = new RowPiece();
    for (int p = 0; zero && p < pieces.count(); p++) {
      pieces.piece(p, piece);
      int at = piece.valueFrom;
      for (int i = 0; i < piece.rows; i++) {
        for (int k = i; k < piece.columns; k++) {
          int j = piece.column[piece.columnFrom + k];
          if (piece.value[at + k - i] != 0 && a[j + j * ld] == 0) {
            return "the squares of column " + j + " are too small";
          }
        }
        at += piece.columns - i;
      }
    }
    return "";
  }

  /** The right-hand sides and the weak columns. */
  private String settle(
      GramTriangle triangle,
      RowProducts products,
      GramCholesky factor,
      int tested,
      double tolerance,
      Crew crew) {
    int s = rhs + factor.weakCount();
    squares = new double[s];
    if (s == 0) {
      return "";
    }
    int[] column = new int[s];
    Arrays.fill(column, 0, rhs, n);
    for (int j = 0, q = rhs; j < n; j++) {
      if (factor.isWeak(j)) {
        column[q++] = j;
      }
    }
    double[] x = new double[n * s];
    double[] c = x;
    double[] norms = new double[s];
    double[] moved = new double[s];
    for (int k = 0; k < CORRECTIONS; k++) {
      double[] w = x.clone();
      for (int q = rhs; q < s; q++) {
        w[column[q] * s + q] -= 1;
      }
      Pairs h = products.residuals(w, s, rhs, squares, crew);
      double[] d = leading(triangle.solveTransposed(h.values(), s, crew), column, s);
      Pairs rx = triangle.multiply(x, s, crew);
      c = new double[n * s];
      Arrays.fill(moved, 0);
      for (int i = 0; i < n * s; i++) {
        moved[i % s] += d[i] * d[i];
        c[i] = factor.isWeak(i / s) ? 0 : rx.high[i] + (rx.low[i] + d[i]);
      }
      if (k == 0) {
        System.arraycopy(squares, 0, norms, 0, s);
      } else if (settled(moved, norms)) {
        break;
      }
      double[] more = triangle.solve(d, s, crew);
      for (int i = 0; i < n * s; i++) {
        x[i] += more[i];
      }
    }
    if (!settled(moved, norms)) {
      return "right-hand sides or dependent columns do not settle";
    }
    for (int q = rhs; q < s; q++) {
      double rest = Math.sqrt(squares[q]);
      int j = column[q];
      boolean dead = j < tested ? rest <= tolerance : rest <= allowed(n) * Math.sqrt(norms[q]);
      if (!dead) {
        return "column " + j + " keeps " + rest + " of " + Math.sqrt(norms[q]);
      }
      dropped = Math.hypot(dropped, rest);
    }
    for (int q = 0; q < s; q++) {
      int at = (q < rhs ? n + q : column[q]) * ld;
      for (int i = 0; i < Math.min(n, column[q]); i++) {
        a[at + i] = c[i * s + q];
      }
    }
    return "";
  }

  private static boolean settled(double[] moved, double[] norms) {
    for (int q = 0; q < moved.length; q++) {
      if (!(moved[q] <= SETTLED * SETTLED * norms[q])) {
        return false;
      }
    }
    return true;
  }

  /** For a dependent column only what belongs to earlier columns; d itself. */
  private double[] leading(double[] d, int[] column, int s) {
    for (int i = 0; i < n * s; i++) {
      if (i / s >= column[i % s]) {
        d[i] = 0;
      }
    }
    return d;
  }

  /** Moves the rows together and finds the staircase. */
  private void compress(GramCholesky factor) {
    stair = new int[n];
    int[] kept = new int[n];
    for (int j = 0; j < n; j++) {
      if (!factor.isWeak(j)) {
        kept[held++] = j;
      }
      stair[j] = held;
    }
    if (held == n) {
      return;
    }
    for (int j = 0; j < n + rhs; j++) {
      int rows = j < n ? stair[j] : held;
      for (int i = 0; i < rows; i++) {
        a[i + j * ld] = a[kept[i] + j * ld];
      }
      Arrays.fill(a, rows + j * ld, n + j * ld, 0);
    }
  }

  /** Whether there is a result. */
  public boolean isAccepted() {
    return refused.isEmpty();
  }

  /** Why there is no result; empty if there is one. */
  public String refused() {
    return refused;
  }

  /**
   * The upper trapezoid, column-major, right-hand sides last: {@link #held} rows, zero below them.
   */
  public double[] triangle() {
    return a;
  }

  /** Leading dimension of the trapezoid. */
  public int triangleLd() {
    return ld;
  }

  /** Rows of the trapezoid, at most n. */
  public int held() {
    return held;
  }

  /** Size n: rows of each column of the trapezoid. */
  public int[] staircase() {
    return stair;
  }

  /** Size rhs: squares of what Q leaves of the right-hand sides. */
  public double[] residualSquares() {
    return Arrays.copyOf(squares, rhs);
  }

  /** 2-norm of the dependent columns' remainders. */
  public double droppedNorm() {
    return dropped;
  }

  /** Largest backward error of a column, relative to its norm, as measured. */
  public double error() {
    return error;
  }
}
