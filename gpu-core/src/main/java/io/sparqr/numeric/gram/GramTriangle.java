/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.gram;

import io.sparqr.threads.Crew;
import java.util.Arrays;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * R of a tree of fronts while it is measured: a {@link Trapezoid} a front. Vectors are row-major, n
 * x s. Chunks of the tree are worked on side by side, the fronts of its top by all threads; the
 * bits do not depend on their number.
 */
final class GramTriangle {

  private final GramShape shape;
  private final GramChunks chunks;
  private final boolean[] weak;
  private final Trapezoid[] front;
  final int n;

  GramTriangle(GramShape shape, GramChunks chunks, boolean[] weak, Trapezoid[] front) {
    this.shape = shape;
    this.chunks = chunks;
    this.weak = weak;
    this.front = front;
    this.n = shape.size();
  }

  boolean isWeak(int j) {
    return weak[j];
  }

  /** Runs a part of the work for each front of a chunk, from the leaves up or down to them. */
  private static void each(int[] fronts, boolean up, IntConsumer part) {
    for (int i = 0; i < fronts.length; i++) {
      part.accept(fronts[up ? i : fronts.length - 1 - i]);
    }
  }

  /** R^-1 z. */
  double[] solve(double[] z, int s, Crew crew) {
    double[] x = z.clone();
    each(chunks.top, false, k -> solve(k, x, s, crew));
    crew.run(
        chunks.chunk.length, c -> each(chunks.chunk[c], false, k -> solve(k, x, s, Crew.ALONE)));
    return x;
  }

  private void solve(int k, double[] x, int s, Crew crew) {
    double[] local = local(k, x, s, front[k].n);
    front[k].solve(local, s, crew);
    put(k, local, x, s);
  }

  /** Some of a front's columns of a vector, column-major; the others are zero. */
  private double[] local(int k, double[] x, int s, int columns) {
    int width = front[k].n;
    double[] local = new double[width * s];
    for (int j = 0; j < columns; j++) {
      int from = shape.column(k, j) * s;
      for (int q = 0; q < s; q++) {
        local[q * width + j] = x[from + q];
      }
    }
    return local;
  }

  /** Puts the part of a front's rows back. */
  private void put(int k, double[] local, double[] x, int s) {
    Trapezoid t = front[k];
    for (int i = 0; i < t.p; i++) {
      for (int q = 0; q < s; q++) {
        x[(t.first + i) * s + q] = local[q * t.n + i];
      }
    }
  }

  /** What a front adds to a vector, with columns of the top in sums of their own, if given. */
  private interface Part {
    void of(int k, double @Nullable [] above, Crew crew);
  }

  /** Runs a part of the work for all fronts, from the leaves up. */
  private void up(double[] x, int s, Crew crew, Part part) {
    var above = new double[chunks.chunk.length][chunks.topColumns * s];
    crew.run(above.length, c -> each(chunks.chunk[c], true, k -> part.of(k, above[c], Crew.ALONE)));
    addAbove(above, x, s);
    each(chunks.top, true, k -> part.of(k, null, crew));
  }

  /** R^-T z. */
  double[] solveTransposed(double[] z, int s, Crew crew) {
    double[] x = z.clone();
    up(x, s, crew, (k, above, some) -> solveTransposed(k, x, s, above, some));
    return x;
  }

  private void solveTransposed(int k, double[] x, int s, double @Nullable [] above, Crew crew) {
    double[] local = local(k, x, s, front[k].p);
    front[k].solveTransposed(local, s, crew);
    put(k, local, x, s);
    add(k, front[k].p, local, x, s, above);
  }

  /**
   * Adds a front's columns from one on to a vector, those of the top to sums of their own.
   *
   * @param above null: also these to the vector
   */
  private void add(int k, int from, double[] local, double[] x, int s, double @Nullable [] above) {
    int width = front[k].n;
    for (int j = from; j < width; j++) {
      int column = shape.column(k, j);
      int top = chunks.topOf[column];
      double[] to = top < 0 || above == null ? x : above;
      int at = (to == x ? column : top) * s;
      for (int q = 0; q < s; q++) {
        to[at + q] += local[q * width + j];
      }
    }
  }

  private void addAbove(double[][] above, double[] x, int s) {
    for (int j = 0; j < n; j++) {
      int top = chunks.topOf[j];
      for (int c = 0; top >= 0 && c < above.length; c++) {
        for (int q = 0; q < s; q++) {
          x[j * s + q] += above[c][top * s + q];
        }
      }
    }
  }

  /** R x. */
  Pairs multiply(double[] x, int s, Crew crew) {
    var y = new Pairs(n * s);
    crew.run(
        chunks.chunk.length,
        c -> each(chunks.chunk[c], true, k -> multiply(k, x, s, y, Crew.ALONE)));
    each(chunks.top, true, k -> multiply(k, x, s, y, crew));
    return y;
  }

  private void multiply(int k, double[] x, int s, Pairs y, Crew crew) {
    front[k].multiply(local(k, x, s, front[k].n), s, y, crew);
  }

  /** Subtracts R'y, also for the weak columns. */
  void subtractTransposed(Pairs y, int s, Pairs from, Crew crew) {
    int count = chunks.chunk.length;
    var sums = new UnitSums(chunks, s, count + 1);
    crew.run(
        count,
        c -> {
          UnitSums.View view = sums.of(c);
          each(chunks.chunk[c], true, k -> subtractTransposed(k, y, s, view, Crew.ALONE));
        });
    UnitSums.View view = sums.of(count);
    each(chunks.top, true, k -> subtractTransposed(k, y, s, view, crew));
    from.add(sums.sum());
  }

  private void subtractTransposed(int k, Pairs y, int s, UnitSums.View to, Crew crew) {
    Trapezoid t = front[k];
    var local = new Pairs(t.n * s);
    t.multiplyTransposed(y, s, local, crew);
    for (int j = 0; j < t.n; j++) {
      int column = shape.column(k, j);
      for (int q = 0; q < s; q++) {
        to.subtract(column, q, local.high[j * s + q], local.low[j * s + q]);
      }
    }
  }

  /** R'y. */
  double[] multiplyTransposed(double[] y, int s, Crew crew) {
    double[] x = new double[n * s];
    up(x, s, crew, (k, above, some) -> multiplyTransposed(k, y, x, s, above, some));
    return x;
  }

  private void multiplyTransposed(
      int k, double[] y, double[] x, int s, double @Nullable [] above, Crew crew) {
    Trapezoid t = front[k];
    double[] out = new double[t.n * s];
    t.multiplyTransposed(local(k, y, s, t.p), s, out, crew);
    add(k, 0, out, x, s, above);
  }

  /**
   * Corrects the root's rows by what U and M have there, as if R were no more ({@link
   * Trapezoid#correct}): in the rows of other fronts R would get entries where it has none, and
   * small directions, as of a variable that dummies nearly explain, lie in its last columns.
   */
  void correct(double[] u, double[] m, int s, Crew crew) {
    Trapezoid root = front[front.length - 1];
    int from = root.first * s;
    double[] of = Arrays.copyOfRange(u, from, from + root.p * s);
    root.correct(of, Arrays.copyOfRange(m, from, from + root.p * s), s, crew);
  }
}
