/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.gram;

import io.sparqr.numeric.dense.ColumnStrips;
import io.sparqr.numeric.dense.DenseKernels;
import io.sparqr.threads.Crew;
import java.util.Arrays;
import java.util.function.DoubleConsumer;
import java.util.stream.IntStream;

/**
 * R of a tree of fronts, with its part of Q'b, by way of F'F, where that costs a fraction of what
 * reflectors cost. Nothing is believed: R is measured against the rows in twice the precision
 * ({@link GramMeasure}), and returned only if its backward error is that of a Householder
 * factorization, column by column; else the caller has the rows still and uses reflectors.
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
   *
   * @param n columns of the widest front
   */
  static double allowed(int n) {
    return Math.min(64, Math.max(8, Math.sqrt(n) / 2)) * Math.ulp(1.0);
  }

  /** Columns of a tree that may depend on earlier ones. */
  private static final int MOST_WEAK = 24;

  /**
   * Pivots at most that are below their column's norm by the factor that roundings may have in the
   * measure, which grow by as much: in so few directions the measure can be helped, twice as many
   * as are split off. Linear programs have hundreds, and the tree is left at the first of them.
   */
  private static final int MOST_SMALL = 2 * GramMeasure.VECTORS;

  /** Right-hand sides that are computed at a time: vectors of a thousand would be larger than R. */
  static final int SIDES = 32;

  /** Corrections of a residual. */
  private static final int CORRECTIONS = 4;

  /** What the last correction of Q'b may be, relative to b. */
  private static final double SETTLED = 0x1p-30;

  /** Squares of columns beyond this or its inverse may have lost parts of products. */
  private static final double LARGE = 0x1p600;

  private final DenseKernels kernels;
  private final RowPieces pieces;
  private final GramShape shape;
  private final int n;
  private final int rhs;
  private Trapezoid[] front = {};
  private boolean[] weak = {};
  private int[] weakColumns = {};
  private int[][] kept = {};
  private int[] stair = {};
  private double[] squares = {};

  /** Squares of the vectors that are being settled, and of what is left of them. */
  private double[] norms = {};

  private double[] rests = {};
  private double dropped;
  private double error;
  private boolean isSettled;
  private String refused = "";

  private GramQr(DenseKernels kernels, RowPieces pieces, GramShape shape, int rhs) {
    this.kernels = kernels;
    this.pieces = pieces;
    this.shape = shape;
    this.n = shape.size();
    this.rhs = rhs;
  }

  /**
   * Factors a tree of fronts.
   *
   * @param pieces the rows, which may be read often
   * @param shape the fronts: the remaining norm of their pivots is compared with the tolerance
   * @param rhs right-hand sides of the rows
   * @param tolerance a pivot with at most this remaining norm is dead; negative: none is
   * @param heard hears the finished fraction, from the calling thread, while F'F is factored
   * @return the result, or the reason for none in {@link #refused}
   */
  public static GramQr factor(
      DenseKernels kernels,
      RowPieces pieces,
      GramShape shape,
      int rhs,
      double tolerance,
      DoubleConsumer heard,
      Crew crew) {
    var qr = new GramQr(kernels, pieces, shape, rhs);
    qr.refused = qr.run(tolerance, heard, crew);
    return qr;
  }

  /** Whether an array holds the upper triangle of any front, as R and what is left are packed. */
  public static boolean fits(GramShape shape, int rhs) {
    long most = Integer.MAX_VALUE - 8;
    for (int k = 0; k < shape.fronts(); k++) {
      if (GramStrip.length(shape.pivots(k) + (long) shape.tail(k)) > most) {
        return false;
      }
    }
    return (long) shape.size() * vectors(rhs) <= most;
  }

  private static long vectors(int rhs) {
    return Math.max(GramMeasure.VECTORS, Math.min(rhs, SIDES) + MOST_WEAK);
  }

  /**
   * Bytes, about, besides the rows: R, the fronts' squares that are there together, and vectors.
   * O(fronts + pieces).
   */
  public static long bytes(RowPieces pieces, GramShape shape, int rhs) {
    return GramBytes.of(pieces, shape, rhs, vectors(rhs));
  }

  private String run(double tolerance, DoubleConsumer heard, Crew crew) {
    var chunks = new GramChunks(shape);
    var products = new RowProducts(pieces, chunks);
    double[] norms = products.squares(crew);
    String range = outOfRange(products, norms);
    if (!range.isEmpty()) {
      return range;
    }
    double allowed = allowed(shape.widest());
    var small = new GramFronts.Small(allowed / Math.ulp(1.0), MOST_SMALL);
    var fronts = new GramFronts(kernels, shape, chunks, pieces, rhs, norms, MOST_WEAK, small);
    String useless = fronts.factor(part -> heard.accept(part / 2), crew);
    if (!useless.isEmpty()) {
      return useless;
    }
    front = fronts.front;
    weak = fronts.weak;
    weakColumns = IntStream.range(0, n).filter(j -> weak[j]).toArray();
    if (weakColumns.length > 0 && tolerance < 0) {
      return "a weak column, and no rank test";
    }
    int root = shape.fronts() - 1;
    for (int k = 0; k < root; k++) {
      if (!aboveTolerance(front[k], front[k].p, tolerance)) {
        return "a pivot that the rank test may drop below others";
      }
    }
    isSettled = aboveTolerance(front[root], shape.pivots(root), tolerance);
    var triangle = new GramTriangle(shape, chunks, weak, front);
    error = GramMeasure.worst(triangle, products, norms, allowed, crew);
    if (!(error <= allowed)) {
      return "backward error " + error;
    }
    String why = settle(triangle, products, allowed, tolerance, crew);
    if (why.isEmpty()) {
      compress();
    }
    return why;
  }

  /** Whether none of the first pivots with a row is as small as the rank test asks. */
  private boolean aboveTolerance(Trapezoid t, int pivots, double tolerance) {
    for (int i = 0; i < pivots; i++) {
      if (!weak[t.first + i] && t.a.get(i, i) <= tolerance) {
        return false;
      }
    }
    return true;
  }

  /** A column whose squares may have left the range of doubles; empty if there is none. */
  private static String outOfRange(RowProducts products, double[] norms) {
    boolean zero = false;
    for (int j = 0; j < norms.length; j++) {
      double square = norms[j];
      zero |= square == 0;
      if (square != 0 && !(square <= LARGE && square >= 1 / LARGE)) {
        return "column " + j + " has the square " + square;
      }
    }
    return zero && products.hasEntryWhere(norms, 0) ? "squares of a column are too small" : "";
  }

  /** The right-hand sides and the weak columns. */
  private String settle(
      GramTriangle triangle, RowProducts products, double allowed, double tolerance, Crew crew) {
    squares = new double[rhs];
    var sides = new RowProducts.Sides(0, Math.min(rhs, SIDES), rhs);
    String why = settle(triangle, products, sides, weakColumns, crew);
    for (int k = 0; k < weakColumns.length && why.isEmpty(); k++) {
      int j = weakColumns[k];
      double norm = Math.sqrt(norms[sides.count() + k]);
      double rest = Math.sqrt(rests[sides.count() + k]);
      boolean dead = j < shape.tested() ? rest <= tolerance : rest <= allowed * norm;
      if (!dead) {
        return "column " + j + " keeps " + rest + " of " + norm;
      }
      dropped = Math.hypot(dropped, rest);
    }
    for (int from = SIDES; from < rhs && why.isEmpty(); from += SIDES) {
      sides = new RowProducts.Sides(from, Math.min(rhs - from, SIDES), rhs);
      why = settle(triangle, products, sides, new int[0], crew);
    }
    return why;
  }

  /** Some right-hand sides and columns. */
  private String settle(
      GramTriangle triangle, RowProducts products, RowProducts.Sides sides, int[] of, Crew crew) {
    int sideCount = sides.count();
    int s = sideCount + of.length;
    if (s == 0) {
      return "";
    }
    int[] column = new int[s];
    Arrays.fill(column, 0, sideCount, n);
    System.arraycopy(of, 0, column, sideCount, of.length);
    double[] x = new double[n * s];
    double[] c = x;
    rests = new double[s];
    double[] moved = new double[s];
    for (int k = 0; k < CORRECTIONS; k++) {
      double[] w = x.clone();
      for (int q = sideCount; q < s; q++) {
        w[column[q] * s + q] -= 1;
      }
      Pairs h = products.residuals(w, s, sides, rests, crew);
      double[] d = leading(triangle.solveTransposed(h.values(), s, crew), column, s);
      Pairs rx = triangle.multiply(x, s, crew);
      c = new double[n * s];
      Arrays.fill(moved, 0);
      for (int i = 0; i < n * s; i++) {
        moved[i % s] += d[i] * d[i];
        c[i] = weak[i / s] ? 0 : rx.high[i] + (rx.low[i] + d[i]);
      }
      if (k == 0) {
        norms = rests.clone();
        if (isOutOfRange(d, norms)) {
          return "squares of right-hand sides are out of range";
        }
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
    System.arraycopy(rests, 0, squares, sides.from(), sideCount);
    store(c, s, sides, of);
    return "";
  }

  /** Whether squares of vectors have overflowed, or vanished although there is Q'b = d. */
  private static boolean isOutOfRange(double[] d, double[] squares) {
    int s = squares.length;
    for (double square : squares) {
      if (!(square <= LARGE)) {
        return true;
      }
    }
    for (int i = 0; i < d.length; i++) {
      if (d[i] != 0 && squares[i % s] < 1 / LARGE) {
        return true;
      }
    }
    return false;
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

  /** Puts Q'b and columns of R to the rows of the fronts. */
  private void store(double[] c, int s, RowProducts.Sides sides, int[] of) {
    for (int k = 0; k < front.length; k++) {
      Trapezoid t = front[k];
      for (int j = 0; of.length > 0 && j < t.n; j++) {
        int column = shape.column(k, j);
        int q = weak[column] ? sides.count() + Arrays.binarySearch(of, column) : -1;
        double[] r = t.a.array(j);
        int at = t.a.at(j);
        for (int i = 0; q >= 0 && i < Math.min(t.p, j); i++) {
          r[at + i] = c[(t.first + i) * s + q];
        }
      }
      for (int q = 0; q < sides.count(); q++) {
        int j = t.n + sides.from() + q;
        double[] side = t.a.array(j);
        int at = t.a.at(j);
        for (int i = 0; i < t.p; i++) {
          side[at + i] = c[(t.first + i) * s + q];
        }
      }
    }
  }

  /** Moves the rows of each front together, and finds the staircase of the root. */
  private void compress() {
    kept = new int[front.length][];
    for (int k = 0; k < front.length; k++) {
      Trapezoid t = front[k];
      int[] rows = IntStream.range(0, t.p).filter(i -> !weak[t.first + i]).toArray();
      kept[k] = rows;
      if (rows.length == t.p) {
        continue;
      }
      for (int j = 0; j < t.n + rhs; j++) {
        double[] r = t.a.array(j);
        int at = t.a.at(j);
        int i = 0;
        for (; i < rows.length && (j >= t.n || rows[i] <= j); i++) {
          r[at + i] = r[at + rows[i]];
        }
        Arrays.fill(r, at + i, at + t.a.height(j), 0);
      }
    }
    stair = new int[front[front.length - 1].n];
    int[] rows = kept[front.length - 1];
    for (int j = 0, held = 0; j < stair.length; j++) {
      held += held < rows.length && rows[held] == j ? 1 : 0;
      stair[j] = held;
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
   * The rows of front k, an upper trapezoid, right-hand sides last: a row for each of {@link
   * #kept}, zero below them.
   */
  public ColumnStrips rows(int k) {
    return front[k].a;
  }

  /**
   * Whether the rows of the root are final: none of its pivots is as small as the rank test asks.
   */
  public boolean isSettled() {
    return isSettled;
  }

  /** The columns of front k that have a row, ascending; each row begins in its own. */
  public int[] kept(int k) {
    return kept[k];
  }

  /** Number of rows of each column of the root's. */
  public int[] staircase() {
    return stair;
  }

  /** Size rhs: squares of what Q leaves of the right-hand sides. */
  public double[] residualSquares() {
    return squares.clone();
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
