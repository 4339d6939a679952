/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.gram;

import io.sparqr.numeric.dense.ColumnStrips;
import io.sparqr.numeric.dense.DenseKernels;
import io.sparqr.threads.Crew;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.DoubleConsumer;
import org.jspecify.annotations.Nullable;

/**
 * F'F of a tree of fronts and its Cholesky factor, front by front (Duff and Reid's multifrontal
 * method): a front sums the products of its rows and what its children leave of theirs, and
 * eliminates its pivots. A leaf of few pivots and rows of A alone is <em>thin</em>: it makes only
 * its rows of R; its parent sums the other products of its rows, and subtracts what it eliminates
 * together with that of other children, as one product of matrices. Children are added in order, so
 * the bits do not depend on the number of threads.
 */
final class GramFronts {

  private static final int STRIP = 256;

  /** Entries of a child's block that are worth other threads. */
  private static final int SHARED = 1 << 16;

  private final DenseKernels kernels;
  private final GramShape shape;
  private final GramChunks chunks;
  private final RowPieces pieces;
  private final int rhs;
  private final double[] squares;
  private final int mostWeak;
  private final Small small;
  private final int[][] children;
  private final boolean[] thin;
  private final AtomicInteger weakCount = new AtomicInteger();
  private final AtomicInteger smallCount = new AtomicInteger();

  /** Size n: columns without a row of R. */
  final boolean[] weak;

  /** By front: its rows of R. */
  final Trapezoid[] front;

  /** By front: the upper triangle of what is left, by columns, until its parent has taken it. */
  private final double[] @Nullable [] left;

  /**
   * When factoring ends because R will be refused.
   *
   * @param loss a pivot is small where its column's norm is more than so many times as large
   * @param most small pivots at most
   */
  record Small(double loss, int most) {

    /** Pivots may be as small as they are. */
    static final Small ANY = new Small(1, Integer.MAX_VALUE);
  }

  /**
   * Prepares.
   *
   * @param squares of the columns
   * @param mostWeak columns at most
   */
  GramFronts(
      DenseKernels kernels,
      GramShape shape,
      GramChunks chunks,
      RowPieces pieces,
      int rhs,
      double[] squares,
      int mostWeak,
      Small small) {
    this.kernels = kernels;
    this.shape = shape;
    this.chunks = chunks;
    this.pieces = pieces;
    this.rhs = rhs;
    this.squares = squares;
    this.mostWeak = mostWeak;
    this.small = small;
    int count = shape.fronts();
    weak = new boolean[shape.size()];
    front = new Trapezoid[count];
    left = new double[count][];
    int[] number = new int[count];
    for (int parent : shape.parent()) {
      if (parent >= 0) {
        number[parent]++;
      }
    }
    children = new int[count][];
    Arrays.setAll(children, k -> new int[number[k]]);
    Arrays.fill(number, 0);
    for (int k = 0; k < count; k++) {
      int parent = shape.parent()[k];
      if (parent >= 0) {
        children[parent][number[parent]++] = k;
      }
    }
    thin = thin(shape, pieces);
  }

  /** The fronts of a tree that are thin. */
  static boolean[] thin(GramShape shape, RowPieces pieces) {
    boolean[] inner = new boolean[shape.fronts()];
    boolean[] thin = new boolean[shape.fronts()];
    for (int k = 0; k < thin.length; k++) {
      int parent = shape.parent()[k];
      if (parent >= 0) {
        inner[parent] = true;
        thin[k] = !inner[k] && isThin(shape, pieces, k);
      }
    }
    return thin;
  }

  private static boolean isThin(GramShape shape, RowPieces pieces, int k) {
    if (shape.pivots(k) > Math.min(GramCholesky.ALONE, shape.tail(k))) {
      return false;
    }
    var piece = new RowPiece();
    for (int p = pieces.start(k); p < pieces.start(k + 1); p++) {
      pieces.piece(p, piece);
      if (piece.rows > 1) {
        return false;
      }
    }
    return true;
  }

  /**
   * Factors.
   *
   * @param heard hears the finished fraction, from the calling thread
   * @return why not; empty if no more columns than the most are weak, and none too many small
   */
  String factor(DoubleConsumer heard, Crew crew) {
    double[] until = new double[shape.fronts()];
    double below = 0;
    for (int[] fronts : chunks.chunk) {
      for (int k : fronts) {
        below += work(k);
      }
    }
    double all = below;
    for (int k : chunks.top) {
      until[k] = all;
      all += work(k);
    }
    int from = 0;
    for (int end : new GramSquares(shape, chunks, thin, rhs).batches()) {
      int first = from;
      crew.run(end - first, c -> eliminate(chunks.chunk[first + c], crew));
      from = end;
    }
    double total = all;
    heard.accept(below / total);
    int[] place = new int[shape.size()];
    for (int k : chunks.top) {
      double work = work(k);
      eliminate(k, place, part -> heard.accept((until[k] + part * work) / total), crew);
    }
    if (weakCount.get() > mostWeak) {
      return "more than " + mostWeak + " weak columns";
    }
    return isGivenUp()
        ? "more than %d pivots below 1/%d of their columns"
            .formatted(small.most, Math.round(small.loss))
        : "";
  }

  /** Whether the result is known to be no use. */
  private boolean isGivenUp() {
    return weakCount.get() > mostWeak || smallCount.get() > small.most;
  }

  private void eliminate(int[] fronts, Crew crew) {
    int[] place = new int[shape.size()];
    for (int k : fronts) {
      // By the crew, so that a job that is cancelled ends between two fronts.
      crew.run(1, i -> eliminate(k, place, part -> {}, Crew.ALONE));
    }
  }

  private double work(int k) {
    double n = shape.pivots(k) + shape.tail(k);
    return shape.pivots(k) * n * n + 1;
  }

  /**
   * One front.
   *
   * @param place work space, size n
   */
  private void eliminate(int k, int[] place, DoubleConsumer heard, Crew crew) {
    if (isGivenUp()) {
      return;
    }
    int n = shape.pivots(k) + shape.tail(k);
    for (int j = 0; j < n; j++) {
      place[shape.column(k, j)] = j;
    }
    if (thin[k]) {
      eliminateThin(k, n, place);
      return;
    }
    boolean root = shape.parent()[k] < 0;
    var a = new ColumnStrips(n, root ? n + rhs : n);
    int[] thinOnes = Arrays.stream(children[k]).filter(c -> thin[c]).toArray();
    var below = new GramChildren(kernels, shape, n, place, children[k], thin, front, left);
    var own = new GramRows(pieces, shape, k, thinOnes);
    new GramMatrix(kernels, n, place, a).sum(own, below, crew);
    for (int c : children[k]) {
      left[c] = null;
    }
    int p = shape.rows(k);
    int first = shape.pivotStart()[k];
    var cholesky = new GramCholesky(kernels, p, n, a, squares, weak, first);
    if (areTooMany(cholesky.factor(mostWeak, true, heard, crew), p, a, first)) {
      return;
    }
    if (root) {
      front[k] = new Trapezoid(p, n, a, weak, first);
      return;
    }
    var r = new ColumnStrips(p, n + rhs);
    for (int j = 0; j < n; j++) {
      System.arraycopy(a.array(j), a.at(j), r.array(j), r.at(j), Math.min(p, j + 1));
    }
    front[k] = new Trapezoid(p, n, r, weak, first);
    left[k] = left(a, p, n - p, crew);
  }

  /** The upper triangle of the last columns. */
  private static double[] left(ColumnStrips a, int p, int tail, Crew crew) {
    double[] left = new double[Math.toIntExact(tail * (tail + 1L) / 2)];
    sharedBy(crew, tail)
        .run(
            strips(tail),
            s -> {
              for (int j = s * STRIP; j < Math.min(tail, (s + 1) * STRIP); j++) {
                int to = (int) (j * (j + 1L) / 2);
                System.arraycopy(a.array(p + j), a.at(p + j) + p, left, to, j + 1);
              }
            });
    return left;
  }

  private static int strips(int columns) {
    return (columns + STRIP - 1) / STRIP;
  }

  /** Who works on a triangle of so many columns. */
  private static Crew sharedBy(Crew crew, int columns) {
    return (long) columns * columns > SHARED ? crew : Crew.ALONE;
  }

  /** Counts weak columns and small pivots; whether there are too many. */
  private boolean areTooMany(int more, int p, ColumnStrips r, int first) {
    int few = 0;
    for (int i = 0; i < p; i++) {
      double size = small.loss * r.get(i, i);
      few += !weak[first + i] && size * size < squares[first + i] ? 1 : 0;
    }
    weakCount.addAndGet(more);
    smallCount.addAndGet(few);
    return isGivenUp();
  }

  /** The rows of R of a thin front, from the products with its pivots. */
  private void eliminateThin(int k, int n, int[] place) {
    int p = shape.pivots(k);
    var r = new ColumnStrips(p, n + rhs);
    double[] low = new double[p * n];
    var piece = new RowPiece();
    for (int q = pieces.start(k); q < pieces.start(k + 1); q++) {
      pieces.piece(q, piece);
      for (int i = 0; i < piece.columns; i++) {
        int row = place[piece.column[piece.columnFrom + i]];
        double u = piece.value[piece.valueFrom + i];
        for (int j = i; row < p && j < piece.columns; j++) {
          int column = place[piece.column[piece.columnFrom + j]];
          double v = piece.value[piece.valueFrom + j];
          add(r.array(column), r.at(column) + row, low, row + column * p, u, v);
        }
      }
    }
    for (int j = 0; j < n; j++) {
      double[] column = r.array(j);
      for (int i = 0, at = r.at(j); i < p; i++) {
        column[at + i] += low[i + j * p];
      }
    }
    int first = shape.pivotStart()[k];
    var cholesky = new GramCholesky(kernels, p, n, r, squares, weak, first);
    areTooMany(cholesky.factor(mostWeak, false, part -> {}, Crew.ALONE), p, r, first);
    front[k] = new Trapezoid(p, n, r, weak, first);
  }

  /** Sum += u v, in a pair. */
  private static void add(double[] high, int at, double[] low, int lowAt, double u, double v) {
    double x = u * v;
    double old = high[at];
    double sum = old + x;
    double b = sum - old;
    low[lowAt] += ((old - (sum - b)) + (x - b)) + Math.fma(u, v, -x);
    high[at] = sum;
  }
}
