/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.gram;

import io.sparqr.numeric.dense.ColumnStrips;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A front's rows with one right-hand side, dense for the oracle and in pieces for what is tested;
 * exact figures of a factorization by arithmetic of 60 digits.
 */
final class GramCase implements RowPieces {

  private static final MathContext DIGITS = new MathContext(60);

  final int n;
  final double[][] rows;
  final double[] b;

  final GramShape shape;
  private final int[] start;

  /** By piece: first row and end; columns. */
  private final int[] first;

  private final int[][] column;
  private final double[][] value;

  /**
   * Rows in pieces: of one row, or trapezoids where rows follow each other as such.
   *
   * @param sizes rows of the pieces
   */
  GramCase(double[][] rows, double[] b, int[] sizes) {
    this(rows, b, sizes, GramShape.single(rows[0].length, rows[0].length), null);
  }

  /**
   * Rows of a tree of fronts.
   *
   * @param start first piece of each front; null: of a single one
   */
  GramCase(double[][] rows, double[] b, int[] sizes, GramShape shape, int @Nullable [] start) {
    this.rows = rows;
    this.shape = shape;
    this.start = start == null ? new int[] {0, sizes.length} : start;
    this.b = b;
    n = rows[0].length;
    first = new int[sizes.length + 1];
    column = new int[sizes.length][];
    value = new double[sizes.length][];
    for (int p = 0; p < sizes.length; p++) {
      first[p + 1] = first[p] + sizes[p];
      pack(p);
    }
  }

  private void pack(int p) {
    boolean[] used = new boolean[n];
    for (int i = first[p]; i < first[p + 1]; i++) {
      for (int j = 0; j < n; j++) {
        used[j] |= rows[i][j] != 0;
      }
    }
    int count = 0;
    int[] columns = new int[n];
    for (int j = 0; j < n; j++) {
      if (used[j]) {
        columns[count++] = j;
      }
    }
    int r = first[p + 1] - first[p];
    column[p] = Arrays.copyOf(columns, count);
    value[p] = new double[r * count - r * (r - 1) / 2];
    int at = 0;
    for (int i = 0; i < r; i++) {
      for (int k = 0; k < count; k++) {
        double v = rows[first[p] + i][column[p][k]];
        if (k >= i) {
          value[p][at++] = v;
        } else if (v != 0) {
          throw new IllegalArgumentException("piece " + p + " is no trapezoid");
        }
      }
    }
  }

  @Override
  public int count() {
    return value.length;
  }

  @Override
  public int start(int k) {
    return start[k];
  }

  @Override
  public void piece(int p, RowPiece view) {
    view.size(first[p + 1] - first[p], column[p].length).columnsAt(column[p], 0);
    view.valuesAt(value[p], 0).rhsAt(b, first[p]);
  }

  /**
   * A random tree of fronts, each with rows of its own.
   *
   * @param fronts about so many
   * @param size largest number of pivots
   * @param leaves columns of the root beside its pivots, at most
   */
  static GramCase tree(Random random, int fronts, int size, int leaves, Entry entry) {
    int[] parent = new int[fronts];
    List<List<Integer>> children = new ArrayList<>();
    for (int k = 0; k < fronts; k++) {
      children.add(new ArrayList<>());
      parent[k] = k == 0 ? -1 : random.nextInt(k);
      if (k > 0) {
        children.get(parent[k]).add(k);
      }
    }
    List<Integer> order = new ArrayList<>();
    postorder(0, children, order);
    int[] place = new int[fronts];
    int[] pivotStart = new int[fronts + 1];
    int[] up = new int[fronts];
    for (int k = 0; k < fronts; k++) {
      place[order.get(k)] = k;
      pivotStart[k + 1] = pivotStart[k] + 1 + random.nextInt(size);
    }
    for (int k = 0; k < fronts; k++) {
      int above = parent[order.get(k)];
      up[k] = above < 0 ? -1 : place[above];
    }
    int n = pivotStart[fronts] + random.nextInt(leaves + 1);
    int[][] tail = new int[fronts][];
    for (int k = fronts - 1; k >= 0; k--) {
      int[] of =
          up[k] < 0
              ? IntStream.range(pivotStart[fronts], n).toArray()
              : columns(pivotStart, tail, up[k]);
      int count = up[k] < 0 ? of.length : 1 + random.nextInt(of.length);
      tail[k] = some(random, of, count);
    }
    List<double[]> rows = new ArrayList<>();
    int[] start = new int[fronts + 1];
    for (int k = 0; k < fronts; k++) {
      int[] columns = columns(pivotStart, tail, k);
      int pivots = pivotStart[k + 1] - pivotStart[k];
      int many = columns.length + random.nextInt(2 * columns.length);
      for (int i = 0; i < many; i++) {
        double[] row = new double[n];
        int pivot = columns[random.nextInt(pivots)];
        row[pivot] = entry.of(rows.size(), pivot);
        for (int j : some(random, columns, random.nextInt(Math.min(columns.length, 5) + 1))) {
          row[j] = entry.of(rows.size(), j);
        }
        rows.add(row);
      }
      start[k + 1] = rows.size();
    }
    int[] tailStart = new int[fronts + 1];
    for (int k = 0; k < fronts; k++) {
      tailStart[k + 1] = tailStart[k] + tail[k].length;
    }
    int[] tails = Arrays.stream(tail).flatMapToInt(Arrays::stream).toArray();
    int m = rows.size();
    return new GramCase(
        rows.toArray(double[][]::new),
        random.doubles(m, -1, 1).toArray(),
        IntStream.range(0, m).map(i -> 1).toArray(),
        new GramShape(pivotStart, tailStart, tails, up),
        start);
  }

  private static void postorder(int k, List<List<Integer>> children, List<Integer> order) {
    for (int c : children.get(k)) {
      postorder(c, children, order);
    }
    order.add(k);
  }

  private static int[] columns(int[] pivotStart, int[][] tail, int k) {
    return IntStream.concat(
            IntStream.range(pivotStart[k], pivotStart[k + 1]), Arrays.stream(tail[k]))
        .toArray();
  }

  private static int[] some(Random random, int[] of, int count) {
    if (count == 0) {
      return new int[0];
    }
    return random.ints(0, of.length).distinct().limit(count).sorted().map(i -> of[i]).toArray();
  }

  /** Sparse rows with entries of the given kind, and a child's trapezoid now and then. */
  static GramCase random(Random random, int n, int m, Entry entry) {
    double[][] rows = new double[m][n];
    int[] sizes = new int[m];
    int pieces = 0;
    int i = 0;
    while (i < m) {
      int width = 1 + random.nextInt(Math.min(n, 6));
      int high = random.nextInt(4) == 0 ? Math.min(width, m - i) : 1;
      int[] c = random.ints(0, n).distinct().limit(width).sorted().toArray();
      for (int r = 0; r < high; r++) {
        for (int k = r; k < c.length; k++) {
          double v = entry.of(i + r, c[k]);
          // A zero would be no column of the piece.
          rows[i + r][c[k]] = v == 0 ? 1 : v;
        }
      }
      sizes[pieces++] = high;
      i += high;
    }
    double[] b = random.doubles(m, -1, 1).toArray();
    return new GramCase(rows, b, Arrays.copyOf(sizes, pieces));
  }

  /** The same rows as those of one front. */
  GramCase whole() {
    int[] ones = IntStream.range(0, rows.length).map(i -> 1).toArray();
    return new GramCase(rows, b, ones);
  }

  /** Value of an entry. */
  interface Entry {
    double of(int i, int j);
  }

  /** The rows of a front, column-major. */
  static double[] entries(GramQr qr, int k) {
    ColumnStrips rows = qr.rows(k);
    int high = rows.height(rows.columns() - 1);
    double[] entries = new double[high * rows.columns()];
    rows.copyTo(entries, high, high);
    return entries;
  }

  /** What is exactly true of a result. */
  record Truth(double backwardError, double rhsError, double squaresError) {}

  /**
   * The largest ||R^-T h_j|| / (2 ||f_j||), H = F'F - R'R, of a result without dropped columns; the
   * error of Q'b beside R^-T F'b relative to ||b|| + sum |x_j| ||f_j||, since a backward error of F
   * changes it by R^-T dF'b and dF x; and that of ||b||^2 = ||Q'b||^2 + squares, relative to the
   * square of the same.
   */
  Truth truth(GramQr qr) {
    BigDecimal[][] r = new BigDecimal[n][n + 1];
    for (BigDecimal[] row : r) {
      Arrays.fill(row, BigDecimal.ZERO);
    }
    for (int k = 0; k < shape.fronts(); k++) {
      int width = shape.pivots(k) + shape.tail(k);
      for (int j = 0; j <= width; j++) {
        int column = j == width ? n : shape.column(k, j);
        for (int i = 0; i < shape.rows(k) && (j == width || i <= j); i++) {
          r[shape.pivotStart()[k] + i][column] = new BigDecimal(qr.rows(k).get(i, j));
        }
      }
    }
    BigDecimal[][] h = new BigDecimal[n][n + 1];
    double[] norm = new double[n + 1];
    for (int j = 0; j <= n; j++) {
      for (int i = 0; i < n; i++) {
        h[i][j] = product(i, j);
        for (int k = 0; k <= Math.min(i, j); k++) {
          h[i][j] = h[i][j].subtract(r[k][i].multiply(r[k][j]), DIGITS);
        }
      }
      norm[j] = Math.sqrt(product(j, j).doubleValue());
    }
    BigDecimal[] x = solution(r);
    double size = norm[n];
    for (int j = 0; j < n; j++) {
      size += Math.abs(x[j].doubleValue()) * norm[j];
    }
    double[][] scaled = new double[n][n];
    double[][] defect = new double[n][n];
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < n; j++) {
        scaled[i][j] = r[i][j].doubleValue() / norm[j];
        defect[i][j] = h[i][j].doubleValue() / norm[i] / norm[j];
      }
    }
    double[][] d = BackwardError.nearest(scaled, defect);
    double worst = 0;
    double[] moved = new double[n];
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int i = 0; i < n; i++) {
        sum += d[i][j] * d[i][j];
        moved[i] += d[i][j] * norm[j] * x[j].doubleValue();
      }
      worst = Math.max(worst, Math.sqrt(sum));
    }
    double rhs = (norm(rest(r, h, x)) + norm(moved)) / size;
    BigDecimal rest = product(n, n).subtract(new BigDecimal(qr.residualSquares()[0]));
    for (int i = 0; i < n; i++) {
      rest = rest.subtract(r[i][n].multiply(r[i][n]), DIGITS);
    }
    return new Truth(worst, rhs, Math.abs(rest.doubleValue()) / (size * size));
  }

  private static double norm(double[] x) {
    double sum = 0;
    for (double v : x) {
      sum += v * v;
    }
    return Math.sqrt(sum);
  }

  /** x with R x = Q'b. */
  private BigDecimal[] solution(BigDecimal[][] r) {
    BigDecimal[] x = new BigDecimal[n];
    for (int i = n - 1; i >= 0; i--) {
      BigDecimal v = r[i][n];
      for (int k = i + 1; k < n; k++) {
        v = v.subtract(r[i][k].multiply(x[k]), DIGITS);
      }
      x[i] = v.divide(r[i][i], DIGITS);
    }
    return x;
  }

  /**
   * What H does not explain of Q'b: R^-T (F'b - R'Q'b - Hx). R is the factor of F + dF, and the
   * same x is the solution for it and b + dF x.
   */
  private double[] rest(BigDecimal[][] r, BigDecimal[][] h, BigDecimal[] x) {
    BigDecimal[] z = new BigDecimal[n];
    double[] found = new double[n];
    for (int i = 0; i < n; i++) {
      BigDecimal v = h[i][n];
      for (int k = 0; k < n; k++) {
        v = v.subtract(h[i][k].multiply(x[k]), DIGITS);
      }
      for (int k = 0; k < i; k++) {
        v = v.subtract(r[k][i].multiply(z[k]), DIGITS);
      }
      z[i] = v.divide(r[i][i], DIGITS);
      found[i] = z[i].doubleValue();
    }
    return found;
  }

  /** Entry (i, j) of [F b]'[F b], exactly. */
  private BigDecimal product(int i, int j) {
    BigDecimal sum = BigDecimal.ZERO;
    for (int k = 0; k < rows.length; k++) {
      double u = i < n ? rows[k][i] : b[k];
      double v = j < n ? rows[k][j] : b[k];
      if (u != 0 && v != 0) {
        sum = sum.add(new BigDecimal(u).multiply(new BigDecimal(v)), DIGITS);
      }
    }
    return sum;
  }
}
