/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factorization;

import io.sparqr.error.DimensionMismatchException;
import io.sparqr.error.NonFiniteValueException;
import io.sparqr.spark.engine.Held;
import io.sparqr.spark.engine.JobScope;
import io.sparqr.spark.engine.SparkErrors;
import io.sparqr.spark.model.QTransposed;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.rows.RowSource;
import io.sparqr.spark.solve.QProduct;
import io.sparqr.spark.solve.Reflection;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.api.java.JavaRDD;

/**
 * Products with the kept Q of A P = Q R, where A is weighted and equilibrated. Column i of the thin
 * Q belongs to row i of R, independent columns only. Vectors are taken {@link #CHUNK} at a time.
 */
final class FactorQ {

  /** Vectors at a time: enough for matrix products, few enough for the memory of tasks. */
  static final int CHUNK = 64;

  private final FactorRun made;
  private final SolvePlan plan;
  private final RowSource source;
  private final Held held;
  private final QProduct product;

  /** Positions of the pivots of R's rows, ascending. */
  private final int[] live;

  /**
   * @param source the factorized rows
   * @param held resources with the lifetime of the factorization
   */
  FactorQ(FactorRun made, RowSource source, Held held) {
    this.made = made;
    this.plan = made.plan().value();
    this.source = source;
    this.held = held;
    this.product = new QProduct(source, made.plan(), made.levels(), held);
    int[] dead = made.totals().dead().clone();
    Arrays.sort(dead);
    int n = plan.analysis().columns();
    live = new int[n - dead.length];
    int at = 0;
    for (int p = 0, d = 0; p < n; p++) {
      if (d < dead.length && dead[d] == p) {
        d++;
      } else {
        live[at++] = p;
      }
    }
  }

  /** Positions of the pivots of R's rows, ascending; not a copy. */
  int[] live() {
    return live;
  }

  /** Q'y for vectors of the weighted rows. */
  QTransposed transposed(JavaRDD<double[]> vectors, JobScope scope) {
    RowSource labelled = source.withLabels(vectors);
    scope.describe("the number of vectors");
    List<double[]> first = SparkErrors.unwrap(() -> vectors.take(1));
    int width = first.isEmpty() ? 0 : first.get(0).length;
    if (width == 0 && made.input().rows() > 0) {
      throw new DimensionMismatchException("vectors of Q' without a value", "vectors", 1, 0);
    }
    var values = new double[width][live.length];
    double[] rest = new double[width];
    for (int from = 0; from < width; from += CHUNK) {
      int start = from;
      int to = Math.min(width, from + CHUNK);
      RowSource some =
          width <= CHUNK
              ? labelled
              : source.withLabels(vectors.map(y -> slice(y, start, to, width)));
      Reflection.Result q = reflected(some, new double[0], scope);
      for (int k = from; k < to; k++) {
        for (int i = 0; i < live.length; i++) {
          values[k][i] = q.c()[live[i] * q.width() + k - from];
        }
        rest[k] = q.residual()[k - from];
      }
    }
    return new QTransposed(values, rest);
  }

  private static double[] slice(double[] y, int from, int to, int width) {
    if (y.length != width) {
      throw new DimensionMismatchException(
          "a row has the values of %d vectors, the first row those of %d"
              .formatted(y.length, width),
          "vectors",
          width,
          y.length);
    }
    return Arrays.copyOfRange(y, from, to);
  }

  /**
   * Q'y of at most a chunk of vectors, by position.
   *
   * @param ridge their values at the ridge rows, n x width by position; empty: zero
   */
  Reflection.Result reflected(RowSource labelled, double[] ridge, JobScope scope) {
    var vectors = new Reflection.Vectors(false, ridge);
    return new Reflection(labelled, made.plan(), made.levels(), made.input().rows(), vectors)
        .run(scope);
  }

  /** Q times vectors, as the rows lie. */
  JavaRDD<double[]> times(double[][] vectors, JobScope scope) {
    check(vectors);
    JavaRDD<double[]> all = null;
    for (int from = 0; from < vectors.length; from += CHUNK) {
      int to = Math.min(vectors.length, from + CHUNK);
      double[] c = plan.vector(to - from);
      for (int k = from; k < to; k++) {
        for (int i = 0; i < live.length; i++) {
          c[live[i] * (to - from) + k - from] = vectors[k][i];
        }
      }
      JavaRDD<double[]> some = product.run(c, to - from, held, scope).rows();
      all = all == null ? some : all.zip(some).map(t -> joined(t._1(), t._2()));
    }
    if (all == null) {
      throw new IllegalArgumentException("Q times no vector at all");
    }
    return all;
  }

  private static double[] joined(double[] a, double[] b) {
    double[] all = Arrays.copyOf(a, a.length + b.length);
    System.arraycopy(b, 0, all, a.length, b.length);
    return all;
  }

  /**
   * The same of at most a chunk, with the ridge rows.
   *
   * @param c by position
   */
  QProduct.Product times(double[] c, int width, Held results, JobScope scope) {
    return product.run(c, width, results, scope);
  }

  private void check(double[][] vectors) {
    for (int k = 0; k < vectors.length; k++) {
      if (vectors[k].length != live.length) {
        throw new DimensionMismatchException(
            "vector %d of Q has %,d values, one for each of the %,d rows of R are needed"
                .formatted(k, vectors[k].length, live.length),
            "rows of R",
            live.length,
            vectors[k].length);
      }
      for (int i = 0; i < live.length; i++) {
        if (!Double.isFinite(vectors[k][i])) {
          throw new NonFiniteValueException(
              "vector %d of Q has %s for row %,d of R".formatted(k, vectors[k][i], i), i, k);
        }
      }
    }
  }

  /** Columns of Q, as the rows lie. */
  JavaRDD<double[]> columns(int[] columns, JobScope scope) {
    var unit = new ArrayList<double[]>();
    for (int j : columns) {
      if (j < 0 || j >= live.length) {
        throw new IndexOutOfBoundsException(
            "column %,d of Q, which has %,d: one for each row of R".formatted(j, live.length));
      }
      double[] e = new double[live.length];
      e[j] = 1;
      unit.add(e);
    }
    return times(unit.toArray(new double[0][]), scope);
  }
}
