/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factorization;

import io.sparqr.spark.engine.Held;
import io.sparqr.spark.engine.JobScope;
import io.sparqr.spark.engine.SparkErrors;
import io.sparqr.spark.exchange.PlanHandle;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.report.QrCriteria;
import io.sparqr.spark.rows.RowProduct;
import io.sparqr.spark.rows.RowSource;
import io.sparqr.spark.solve.NormSum;
import io.sparqr.spark.solve.QProduct;
import io.sparqr.spark.solve.RProduct;
import io.sparqr.spark.solve.Reflection;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.broadcast.Broadcast;

/**
 * The three criteria of {@link QrCriteria}. Norms are exact if all n columns are used; otherwise,
 * for a random vector x of signs, the expectation of ||E x||^2 is ||E||_F^2 (Hutchinson 1990,
 * doi:10.1080/03610919008812866, for E'E).
 */
final class FactorCriteria {

  private static final long SEED = 48;

  private final FactorRun made;
  private final SolvePlan plan;
  private final RowSource source;
  private final FactorQ q;
  private final RProduct r;
  private final int n;

  FactorCriteria(FactorRun made, RowSource source, FactorQ q) {
    this.made = made;
    this.plan = made.plan().value();
    this.source = source;
    this.q = q;
    this.n = plan.analysis().columns();
    this.r =
        new RProduct(source.context(), made.plan(), made.levels(), made.driverShare().singletons());
  }

  /** Measures them with some probes, at least 1. */
  QrCriteria measure(int probes, JobScope scope) {
    int[] live = q.live();
    boolean exact = probes >= n;
    int[] all = new int[n];
    Arrays.setAll(all, p -> p);
    double norm = frobenius(scope);
    double residual = 0;
    double orthogonality = 0;
    double lower = 0;
    int count = Math.min(probes, n);
    for (int from = 0; from < count; from += FactorQ.CHUNK) {
      int width = Math.min(FactorQ.CHUNK, count - from);
      double[] x = exact ? units(all, from, width) : signs(all, from, width);
      residual = Math.hypot(residual, residual(x, width, scope));
    }
    // Q has as many columns as A has independent ones.
    boolean exactQ = probes >= live.length;
    int ofQ = Math.min(probes, live.length);
    int[] drawn = exactQ ? live : drawn(live, ofQ);
    for (int from = 0; from < ofQ; from += FactorQ.CHUNK) {
      int width = Math.min(FactorQ.CHUNK, ofQ - from);
      double[] u = exactQ ? units(live, from, width) : signs(live, from, width);
      orthogonality = Math.hypot(orthogonality, orthogonality(u, width, scope));
      lower = Math.hypot(lower, lower(drawn, from, width, scope));
    }
    double ofProbe = exact ? 1 : Math.sqrt(1.0 / count);
    double ofColumn = exactQ ? 1 : Math.sqrt(1.0 / ofQ);
    double ofDrawn = exactQ ? 1 : Math.sqrt((double) live.length / ofQ);
    double tolerance = Math.max(0, plan.numbers().tolerance());
    double dropped = tolerance * Math.sqrt(n - live.length);
    return new QrCriteria(
        made.input().rows(),
        n,
        live.length,
        count,
        exact,
        relative(residual * ofProbe, norm),
        orthogonality * ofColumn,
        relative(lower * ofDrawn, norm),
        relative(dropped, norm));
  }

  private static double relative(double value, double norm) {
    return value == 0 ? 0 : value / norm;
  }

  private double[] units(int[] positions, int from, int width) {
    double[] x = plan.vector(width);
    for (int k = 0; k < width; k++) {
      x[positions[from + k] * width + k] = 1;
    }
    return x;
  }

  private double[] signs(int[] positions, int from, int width) {
    double[] x = plan.vector(width);
    for (int k = 0; k < width; k++) {
      var random = new Random(SEED + from + k);
      for (int p : positions) {
        x[p * width + k] = random.nextBoolean() ? 1 : -1;
      }
    }
    return x;
  }

  /** So many different positions, ascending. */
  private static int[] drawn(int[] positions, int count) {
    var random = new Random(SEED);
    var chosen = new BitSet(positions.length);
    while (chosen.cardinality() < count) {
      chosen.set(random.nextInt(positions.length));
    }
    return chosen.stream().map(i -> positions[i]).toArray();
  }

  /** ||A||_F, ridge rows included. */
  private double frobenius(JobScope scope) {
    PlanHandle b = made.plan();
    scope.describe("criteria, ||A||");
    JavaRDD<Double> parts =
        source.rows().mapPartitionsWithIndex((p, rows) -> norm(b.value(), p, rows), false);
    double norm = 0;
    for (double part : SparkErrors.unwrap(parts::collect)) {
      norm = Math.hypot(norm, part);
    }
    for (int p = 0; p < n; p++) {
      norm = Math.hypot(norm, ridge(p));
    }
    return norm;
  }

  private static Iterator<Double> norm(
      SolvePlan plan, int partition, Iterator<io.sparqr.spark.model.SparseRow> rows) {
    return List.of(RowProduct.norm(plan, partition, rows)).iterator();
  }

  /** The entry of a position's ridge row. */
  private double ridge(int p) {
    if (!plan.numbers().ridge().any()) {
      return 0;
    }
    int j = plan.analysis().permutation().original(p);
    return plan.scaled(j, Math.sqrt(plan.numbers().ridge().of(j)));
  }

  /** Rows of A times x, and the ridge rows. */
  private JavaRDD<double[]> product(double[] x, int width, Held held) {
    PlanHandle b = made.plan();
    Broadcast<double[]> sent = held.keep(source.context().broadcast(x));
    return source
        .rows()
        .mapPartitionsWithIndex(
            (p, rows) -> new RowProduct(b.value(), p, rows, sent.value(), width), false);
  }

  private double[] ridgeProduct(double[] x, int width) {
    if (!plan.numbers().ridge().any()) {
      return new double[0];
    }
    double[] y = new double[x.length];
    for (int i = 0; i < y.length; i++) {
      y[i] = ridge(i / width) * x[i];
    }
    return y;
  }

  /** ||(A P - Q R) x||_F. */
  private double residual(double[] x, int width, JobScope scope) {
    double[] rx = r.times(x, width, scope);
    try (var held = new Held()) {
      QProduct.Product qrx = q.times(rx, width, held, scope);
      scope.describe("criteria, A P - Q R");
      JavaRDD<Double> parts =
          product(x, width, held).zipPartitions(qrx.rows(), FactorCriteria::distance);
      double norm = 0;
      for (double part : SparkErrors.unwrap(parts::collect)) {
        norm = Math.hypot(norm, part);
      }
      double[] y = ridgeProduct(x, width);
      for (int i = 0; i < y.length; i++) {
        norm = Math.hypot(norm, y[i] - qrx.ridge()[i]);
      }
      return norm;
    }
  }

  private static Iterator<Double> distance(Iterator<double[]> a, Iterator<double[]> b) {
    var norm = new NormSum();
    while (a.hasNext() && b.hasNext()) {
      double[] x = a.next();
      double[] y = b.next();
      for (int k = 0; k < x.length; k++) {
        norm.add(x[k] - y[k]);
      }
    }
    if (a.hasNext() || b.hasNext()) {
      throw new IllegalStateException("A and Q have different numbers of rows");
    }
    return List.of(norm.norm()).iterator();
  }

  /** ||(Q'Q - I) u||_F for all rows of Q', those of the residual included. */
  private double orthogonality(double[] u, int width, JobScope scope) {
    try (var held = new Held()) {
      QProduct.Product qu = q.times(u, width, held, scope);
      Reflection.Result back = q.reflected(source.withLabels(qu.rows()), qu.ridge(), scope);
      var norm = new NormSum();
      for (int p : q.live()) {
        for (int k = 0; k < width; k++) {
          norm.add(back.c()[p * width + k] - u[p * width + k]);
        }
      }
      for (double rest : back.residual()) {
        norm.add(rest);
      }
      return norm.norm();
    }
  }

  /** The norm of what is below the diagonal in columns of Q'A P. */
  private double lower(int[] positions, int from, int width, JobScope scope) {
    double[] x = units(positions, from, width);
    try (var held = new Held()) {
      Reflection.Result below =
          q.reflected(source.withLabels(product(x, width, held)), ridgeProduct(x, width), scope);
      var norm = new NormSum();
      for (int p : q.live()) {
        for (int k = 0; k < width; k++) {
          if (p > positions[from + k]) {
            norm.add(below.c()[p * width + k]);
          }
        }
      }
      for (double rest : below.residual()) {
        norm.add(rest);
      }
      return norm.norm();
    }
  }
}
