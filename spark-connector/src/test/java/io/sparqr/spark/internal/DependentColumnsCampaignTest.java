/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.internal;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.ordering.OrderingMethod;
import io.sparqr.spark.DenseStatistics;
import io.sparqr.spark.Dependency;
import io.sparqr.spark.GpuSparseQR;
import io.sparqr.spark.ProgressListener;
import io.sparqr.spark.SparseRow;
import io.sparqr.spark.rows.RowSource;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Prototype. */
class DependentColumnsCampaignTest {

  private static final long SEED = Long.getLong("test.seed", 20261127L);
  private static final int COUNT = Integer.getInteger("sparqr.test.graphs", 300);
  private static final double EPS = Math.ulp(1.0);

  private final TreeMap<String, Integer> counts = new TreeMap<>();

  private void count(String what) {
    counts.merge(what, 1, Integer::sum);
  }

  static double residual(double[][] a, double[] b, double[] x) {
    BigDecimal sum = BigDecimal.ZERO;
    for (int i = 0; i < a.length; i++) {
      BigDecimal r = new BigDecimal(b[i]);
      for (int j = 0; j < x.length; j++) {
        if (a[i][j] != 0 && x[j] != 0) {
          r = r.subtract(new BigDecimal(a[i][j]).multiply(new BigDecimal(x[j])));
        }
      }
      r = r.round(MathContext.DECIMAL64);
      sum = sum.add(r.multiply(r), MathContext.DECIMAL64);
    }
    return Math.sqrt(sum.doubleValue());
  }

  static double noise(double[] x, double[] norm) {
    double most = 0;
    for (int j = 0; j < x.length; j++) {
      most = Math.max(most, Math.abs(x[j]) * norm[j]);
    }
    return EPS * most;
  }

  @Test
  void graphs() {
    for (int k = 0; k < COUNT; k++) {
      long seed = SEED + k;
      PoseGraphs.Network g = PoseGraphs.random(seed);
      try {
        one(g, seed);
      } catch (RuntimeException e) {
        count("EXCEPTION " + e.getClass().getSimpleName());
        System.out.println(g.what() + " " + e);
      }
    }
    counts.forEach((w, c) -> System.out.println(w + ": " + c));
  }

  private void one(PoseGraphs.Network g, long seed) {
    List<SparseRow> rows = g.rows();
    OrderingMethod[] methods = {OrderingMethod.AMD, OrderingMethod.COLAMD, OrderingMethod.NATURAL};
    var builder =
        GpuSparseQR.builder()
            .ordering(methods[(int) Math.floorMod(seed, 3L)])
            .singletons(seed % 2 == 0);
    double[] norm = g.norms();
    double normB = Math.sqrt(Arrays.stream(g.b()).map(v -> v * v).sum());
    if (Boolean.getBoolean("dbg")) { try (FactorState s =
        Pipeline.factorize(
            RowSource.local(1, p -> rows.iterator()), builder.build().options(), ProgressListener.NONE)) {
         for (Dependency d : s.dependencies()) { double[] r = new double[g.a().length]; double most = 0, n2 = 0; for (int i = 0; i < r.length; i++) { BigDecimal t = new BigDecimal(g.a()[i][d.column()]); for (int e = 0; e < d.on().length; e++) t = t.subtract(new BigDecimal(g.a()[i][d.on()[e]]).multiply(new BigDecimal(d.coefficients()[e]))); n2 = Math.hypot(n2, t.doubleValue()); }
        for (int e = 0; e < d.on().length; e++) most = Math.max(most, Math.abs(d.coefficients()[e]) * norm[d.on()[e]] / norm[d.column()]);
         System.out.println("R dep " + d.column() + " residual " + n2/norm[d.column()] + " largest " + most); } } }
    double before;
    double noiseBefore;
    int[] byR;
    try (FactorState s =
        Pipeline.factorize(
            RowSource.local(1, p -> rows.iterator()), builder.build().options(), ProgressListener.NONE)) {
      double[] x = s.solve().x();
      before = residual(g.a(), g.b(), x);
      noiseBefore = noise(x, norm);
      byR = s.deadColumns();
    }
    var choosing = builder.dropLater(true).keep(g.keep()).drop(g.drop());
    try (FactorState s =
        Pipeline.factorize(
            RowSource.local(1, p -> rows.iterator()), choosing.build().options(), ProgressListener.NONE)) {
      double[] x = s.solve().x();
      double after = residual(g.a(), g.b(), x);
      boolean right = s.deadColumns().length == g.gauge()[0].length;
      boolean warned = s.report().warnings().stream().anyMatch(w -> w.contains("dependent"));
      count(right ? "rank right" : "rank other");
      count(warned ? "warned" : "not warned");
      double allowed = before * (1 + 1e-6) + 1e-12 * normB;
      String size = after <= allowed ? "as before" : after <= allowed + 10 * noiseBefore ? "within 10 noise" :
         after <= allowed + 1e3 * noiseBefore ? "within 1000 noise" : "WORSE";
      count("residual " + size + (warned ? " warned" : ""));
      if (size.equals("WORSE")) {
        System.out.printf("%s: before %.3g (noise %.3g) after %.3g (noise %.3g), |b| %.3g, rank right %b%n", g.what(), before, noiseBefore, after, noise(x, norm), normB, right);
      }
      double worst = 0;
      double before0 = 0;
      for (Dependency d : s.dependencies()) {
        double size2 = norm[d.column()];
        double[] r = new double[g.a().length];
        for (int i = 0; i < r.length; i++) {
          r[i] = g.a()[i][d.column()];
          for (int e = 0; e < d.on().length; e++) {
            r[i] -= g.a()[i][d.on()[e]] * d.coefficients()[e];
          }
        }
        for (int e = 0; e < d.on().length; e++) {
          size2 = Math.max(size2, Math.abs(d.coefficients()[e]) * norm[d.on()[e]]);
        }
        double n2 = 0;
        for (double v : r) {
          n2 = Math.hypot(n2, v);
        }
        worst = Math.max(worst, size2 == 0 ? 0 : n2 / size2);
      }
      count("dependency 1e" + (int) Math.ceil(Math.log10(worst + 1e-20)));
      int[] dead = s.deadColumns();
      int[] rule = rule(g, norm);
      if (right) {
        count("choice " + (Arrays.equals(dead, rule) ? "rule" : "other") + (warned ? " warned" : ""));
      }
      double cond = new DenseStatistics(g.a(), g.b(), dead).condition;
      double condR = new DenseStatistics(g.a(), g.b(), byR).condition;
      count("cond(K)/cond(R) 1e" + (int) Math.ceil(Math.log10(cond / condR)));
    }
  }

  /** The columns that the user's rule drops, by the null space's exact coefficients. */
  static int[] rule(PoseGraphs.Network g, double[] norm) {
    int n = g.columns();
    var order = new ArrayList<Integer>();
    for (int j = n - 1; j >= 0; j--) {
      order.add(j);
    }
    for (int j : g.drop()) {
      order.remove((Integer) j);
    }
    for (int j : g.keep()) {
      order.remove((Integer) j);
    }
    int[] drop = Arrays.stream(g.drop()).sorted().toArray();
    for (int j : drop) {
      order.add(0, j);
    }
    for (int k = g.keep().length - 1; k >= 0; k--) {
      order.add(g.keep()[k]);
    }
    var basis = new ArrayList<double[]>();
    var gone = new ArrayList<Integer>();
    for (int j : order) {
      double[] v = g.gauge()[j].clone();
      double before = norm(v);
      for (int twice = 0; twice < 2; twice++) {
        for (double[] u : basis) {
          double dot = 0;
          for (int i = 0; i < v.length; i++) {
            dot += u[i] * v[i];
          }
          for (int i = 0; i < v.length; i++) {
            v[i] -= dot * u[i];
          }
        }
      }
      double after = norm(v);
      if (after > 1e-11 * before) {
        for (int i = 0; i < v.length; i++) {
          v[i] /= after;
        }
        basis.add(v);
        gone.add(j);
      }
    }
    return gone.stream().mapToInt(j -> j).sorted().toArray();
  }

  private static double norm(double[] v) {
    double sum = 0;
    for (double w : v) {
      sum += w * w;
    }
    return Math.sqrt(sum);
  }
}
