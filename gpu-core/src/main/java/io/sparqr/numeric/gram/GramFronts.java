/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.gram;

import io.sparqr.numeric.dense.DenseKernels;
import io.sparqr.numeric.dense.StaircaseQr;
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

  /** Rows of thin children that are subtracted at a time. */
  static final int STACK = 256;

  /** A row of R with fewer of the parent's columns is subtracted entry by entry. */
  private static final int SPARSE = 6;

  private static final int STRIP = 256;

  private static final double[] NONE = {};

  /** Entries of a child's block that are worth other threads. */
  private static final int SHARED = 1 << 16;

  private final DenseKernels kernels;
  private final GramShape shape;
  private final GramChunks chunks;
  private final RowPieces pieces;
  private final int rhs;
  private final double[] squares;
  private final int mostWeak;
  private final int[][] children;
  private final boolean[] thin;
  private final AtomicInteger weakCount = new AtomicInteger();

  /** Size n: columns without a row of R. */
  final boolean[] weak;

  /** By front: its rows of R. */
  final Trapezoid[] front;

  /** The root's array until it is taken, if it was made before. */
  private double[] reserved;

  /** By front: the upper triangle of what is left, by columns, until its parent has taken it. */
  private final double[] @Nullable [] left;

  /**
   * Prepares.
   *
   * @param squares of the columns
   * @param mostWeak columns at most
   * @param reserved zeros of the root's array, or of any other size: it is made when it is needed
   */
  GramFronts(
      DenseKernels kernels,
      GramShape shape,
      GramChunks chunks,
      RowPieces pieces,
      int rhs,
      double[] squares,
      int mostWeak,
      double[] reserved) {
    this.kernels = kernels;
    this.shape = shape;
    this.chunks = chunks;
    this.pieces = pieces;
    this.rhs = rhs;
    this.squares = squares;
    this.mostWeak = mostWeak;
    this.reserved = reserved;
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
   * @return whether no more columns than the most are weak
   */
  boolean factor(DoubleConsumer heard, Crew crew) {
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
    return weakCount.get() <= mostWeak;
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
    if (weakCount.get() > mostWeak) {
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
    int ld = leadingDimension(n);
    double[] a = root ? rootArray(n) : new double[Math.toIntExact((long) ld * n)];
    int[] thinOnes = Arrays.stream(children[k]).filter(c -> thin[c]).toArray();
    var gram = new GramMatrix(kernels, n, place, a, ld);
    var own = new GramRows(pieces, shape, k, thinOnes);
    gram.sum(own, crew);
    for (int c : children[k]) {
      if (!thin[c]) {
        addLeft(c, gram, place, crew);
      }
    }
    subtractThin(thinOnes, gram, n, place, crew);
    if (thinOnes.length == 0 && isSparse(own, n)) {
      gram.roundOnly(own);
    } else {
      gram.round(crew);
    }
    int p = shape.rows(k);
    int first = shape.pivotStart()[k];
    var cholesky = new GramCholesky(kernels, p, n, a, ld, squares, weak, first);
    if (found(cholesky.factor(mostWeak, true, heard, crew))) {
      return;
    }
    if (root) {
      front[k] = new Trapezoid(p, n, a, ld, weak, first);
      return;
    }
    double[] r = new double[Math.toIntExact((long) p * (n + rhs))];
    for (int j = 0; j < n; j++) {
      System.arraycopy(a, j * ld, r, j * p, Math.min(p, j + 1));
    }
    front[k] = new Trapezoid(p, n, r, p, weak, first);
    left[k] = left(a, p, n - p, ld, crew);
  }

  private double[] rootArray(int n) {
    double[] a = reserved;
    reserved = NONE;
    int length = Math.toIntExact(rootLength(n, rhs));
    return a.length == length ? a : new double[length];
  }

  /** Doubles of the array of a root of n columns. */
  static long rootLength(int n, int rhs) {
    return StaircaseQr.length(leadingDimension(n), (long) n + rhs);
  }

  /** The upper triangle of the last columns. */
  private static double[] left(double[] a, int p, int tail, int ld, Crew crew) {
    double[] left = new double[Math.toIntExact(tail * (tail + 1L) / 2)];
    sharedBy(crew, tail)
        .run(
            strips(tail),
            s -> {
              for (int j = s * STRIP; j < Math.min(tail, (s + 1) * STRIP); j++) {
                System.arraycopy(a, p + (p + j) * ld, left, j * (j + 1) / 2, j + 1);
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

  /** Multiples of 4096 bytes thrash the cache. */
  static int leadingDimension(int n) {
    return n > 0 && n % 512 == 0 ? n + 8 : n;
  }

  /** Whether rows make so few products that these need less than a pass over all entries. */
  private static boolean isSparse(RowPieces rows, double n) {
    double products = 0;
    var piece = new RowPiece();
    for (int p = 0; p < rows.count(); p++) {
      rows.piece(p, piece);
      products += (double) piece.columns * piece.columns;
    }
    return products < n * n / SPARSE;
  }

  /** Counts weak columns; whether there are too many. */
  private boolean found(int more) {
    return weakCount.addAndGet(more) > mostWeak;
  }

  /** The rows of R of a thin front, from the products with its pivots. */
  private void eliminateThin(int k, int n, int[] place) {
    int p = shape.pivots(k);
    double[] r = new double[Math.toIntExact((long) p * (n + rhs))];
    double[] low = new double[p * n];
    var piece = new RowPiece();
    for (int q = pieces.start(k); q < pieces.start(k + 1); q++) {
      pieces.piece(q, piece);
      for (int i = 0; i < piece.columns; i++) {
        int row = place[piece.column[piece.columnFrom + i]];
        double u = piece.value[piece.valueFrom + i];
        for (int j = i; row < p && j < piece.columns; j++) {
          add(
              r,
              low,
              row + place[piece.column[piece.columnFrom + j]] * p,
              u,
              piece.value[piece.valueFrom + j]);
        }
      }
    }
    for (int i = 0; i < p * n; i++) {
      r[i] += low[i];
    }
    int first = shape.pivotStart()[k];
    var cholesky = new GramCholesky(kernels, p, n, r, p, squares, weak, first);
    found(cholesky.factor(mostWeak, false, part -> {}, Crew.ALONE));
    front[k] = new Trapezoid(p, n, r, p, weak, first);
  }

  /** Sum += u v, in a pair. */
  private static void add(double[] high, double[] low, int at, double u, double v) {
    double x = u * v;
    double old = high[at];
    double sum = old + x;
    double b = sum - old;
    low[at] += ((old - (sum - b)) + (x - b)) + Math.fma(u, v, -x);
    high[at] = sum;
  }

  /** Adds what a child has left. */
  private void addLeft(int c, GramMatrix gram, int[] place, Crew crew) {
    double[] from = left[c];
    if (from == null) {
      return;
    }
    left[c] = null;
    int p = shape.pivots(c);
    int tail = shape.tail(c);
    int[] at = new int[tail];
    for (int j = 0; j < tail; j++) {
      at[j] = place[shape.column(c, p + j)];
    }
    sharedBy(crew, tail)
        .run(
            strips(tail),
            s -> {
              for (int j = s * STRIP; j < Math.min(tail, (s + 1) * STRIP); j++) {
                int source = j * (j + 1) / 2;
                for (int i = 0; i <= j; i++) {
                  gram.addRounded(at[i], at[j], from[source + i]);
                }
              }
            });
  }

  /** Subtracts what thin children eliminate. */
  private void subtractThin(int[] thinOnes, GramMatrix gram, int n, int[] place, Crew crew) {
    double[] stack = {};
    int rows = 0;
    for (int c : thinOnes) {
      Trapezoid r = front[c];
      int tail = r.n - r.p;
      if (tail * SPARSE < n) {
        subtractSparse(c, r, gram, place);
        continue;
      }
      if (stack.length == 0) {
        stack = new double[STACK * n];
      }
      for (int i = 0; i < r.p; i++) {
        for (int j = 0; j < tail; j++) {
          int to = place[shape.column(c, r.p + j)] * STACK + rows;
          stack[to] = r.a[i + (r.p + j) * r.ld];
        }
        if (++rows == STACK) {
          subtractStack(stack, rows, gram, n, crew);
          Arrays.fill(stack, 0);
          rows = 0;
        }
      }
    }
    if (rows > 0) {
      subtractStack(stack, rows, gram, n, crew);
    }
  }

  private void subtractSparse(int c, Trapezoid r, GramMatrix gram, int[] place) {
    int tail = r.n - r.p;
    int[] at = new int[tail];
    for (int j = 0; j < tail; j++) {
      at[j] = place[shape.column(c, r.p + j)];
    }
    for (int i = 0; i < r.p; i++) {
      for (int j = 0; j < tail; j++) {
        double v = r.a[i + (r.p + j) * r.ld];
        for (int l = 0; l <= j; l++) {
          double u = r.a[i + (r.p + l) * r.ld];
          double x = u * v;
          gram.add(at[l], at[j], -x, -Math.fma(u, v, -x));
        }
      }
    }
  }

  private void subtractStack(double[] stack, int rows, GramMatrix gram, int n, Crew crew) {
    crew.run(
        strips(n),
        s -> {
          int first = s * STRIP;
          int end = Math.min(n, first + STRIP);
          int width = end - first;
          double[] b = stack;
          double[] c = new double[end * width];
          kernels.gemm(
              true, end, width, rows, 1, b, 0, STACK, b, first * STACK, STACK, 0, c, 0, end);
          for (int j = first; j < end; j++) {
            for (int i = 0; i <= j; i++) {
              gram.add(i, j, -c[i + (j - first) * end], 0);
            }
          }
        });
  }
}
