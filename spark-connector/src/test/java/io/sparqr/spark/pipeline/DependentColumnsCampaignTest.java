/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.Sampling;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.spark.DenseStatistics;
import io.sparqr.spark.GpuSparseQR;
import io.sparqr.spark.dependence.MovedErrors;
import io.sparqr.spark.factorization.FactorState;
import io.sparqr.spark.model.Dependency;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.report.ProgressListener;
import io.sparqr.spark.rows.RowSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The choice of dependent columns on random networks with a free gauge, held to what is known of
 * them: the columns that the order drops, unless a warning says why not; combinations that are
 * those columns; a residual as small as that of R's own choice; the standard errors of the
 * regression without the dropped columns. {@code -Dsparqr.test.graphs=12000} for all.
 */
@Tag("numbers")
class DependentColumnsCampaignTest {

  private static final long SEED = Long.getLong("test.seed", 20261127L);
  private static final int[] GRAPHS = Sampling.numbers("sparqr.test.graphs", 300).toArray();
  private static final double EPS = Math.ulp(1.0);

  /** Rounding errors of a residual in units of eps max |x_j| ||a_j||. */
  private static final double ROUNDING = 2000;

  /** Coefficients below this bound are no reason to leave the user's order. */
  private static final double HARMLESS = 90;

  /** Beyond this bound the order asks for nothing that could be determined. */
  private static final double UNDETERMINED = 1e10;

  /** How much worse conditioned than R's choice another may be. */
  private static final double CONDITION = 1e9;

  private final Map<String, Integer> counts = new TreeMap<>();
  private final Map<String, Double> worst = new TreeMap<>();
  private final List<String> wrong = new ArrayList<>();

  @Test
  void everyChoiceIsOneOfTheUsersOrderOrSaid() {
    for (int k : GRAPHS) {
      PoseGraphs.Network g = PoseGraphs.random(SEED + k);
      try {
        check(g, SEED + k);
      } catch (RuntimeException e) {
        wrong.add(g.what() + ": " + e);
      }
    }
    System.out.printf("%d graphs, seeds from %d%n", GRAPHS.length, SEED);
    counts.forEach((what, count) -> System.out.printf("%6d %s%n", count, what));
    worst.forEach((what, value) -> System.out.printf("at most %.3g %s%n", value, what));
    wrong.forEach(System.out::println);
    assertThat(wrong).isEmpty();
    assertThat(counts.get("the rule's columns")).isGreaterThan(GRAPHS.length * 3 / 4);
  }

  private void count(String what) {
    counts.merge(what, 1, Integer::sum);
  }

  private void hold(String what, double value, double limit, PoseGraphs.Network g) {
    worst.merge(what, value, Math::max);
    if (!(value <= limit)) {
      wrong.add("%s: %.3g %s, at most %.3g".formatted(g.what(), value, what, limit));
    }
  }

  private static FactorState factorized(List<SparseRow> rows, GpuSparseQR.Builder builder) {
    return Pipeline.factorize(
        RowSource.local(1, p -> rows.iterator()), builder.build().options(), ProgressListener.NONE);
  }

  private void check(PoseGraphs.Network g, long seed) {
    List<SparseRow> rows = g.rows();
    OrderingMethod[] methods = {OrderingMethod.AMD, OrderingMethod.COLAMD, OrderingMethod.NATURAL};
    var builder =
        GpuSparseQR.builder()
            .ordering(methods[(int) Math.floorMod(seed, 3L)])
            .singletons(Math.floorMod(seed, 2L) == 0);
    double[] ofR;
    int[] byR;
    try (FactorState s = factorized(rows, builder)) {
      ofR = s.solve().x();
      byR = s.deadColumns();
    }
    builder.dropLater(true).keep(g.keep()).drop(g.drop());
    try (FactorState s = factorized(rows, builder)) {
      assertThat(s.deadColumns()).hasSameSizeAs(byR);
      residual(g, ofR, s.solve().x());
      for (int j : s.deadColumns()) {
        hold("in a dropped column", Math.abs(s.solve().x()[j]), 0, g);
      }
      combinations(g, s);
      choice(g, s);
      errors(g, s, byR);
    }
  }

  private static double largest(PoseGraphs.Network g, double[] x) {
    double[] norm = g.norms();
    return IntStream.range(0, x.length).mapToDouble(j -> Math.abs(x[j]) * norm[j]).max().orElse(0);
  }

  private void residual(PoseGraphs.Network g, double[] ofR, double[] x) {
    double before = GaugeOracle.residual(g.a(), g.b(), ofR);
    double after = GaugeOracle.residual(g.a(), g.b(), x);
    double norm = Math.sqrt(Arrays.stream(g.b()).map(v -> v * v).sum());
    double as = before * (1 + 1e-6) + 1e-12 * norm;
    count(after <= as ? "residual as before" : "residual as before but for rounding");
    double unit = EPS * Math.max(largest(g, ofR), largest(g, x));
    hold("eps max |x_j| ||a_j|| more in the residual", Math.max(0, after - as) / unit, ROUNDING, g);
  }

  /** Dropped columns are the combinations of kept ones, as well as the rank test knows. */
  private void combinations(PoseGraphs.Network g, FactorState s) {
    double[] norm = g.norms();
    for (Dependency d : s.dependencies()) {
      double largest = norm[d.column()];
      double[] r = Arrays.stream(g.a()).mapToDouble(row -> row[d.column()]).toArray();
      for (int e = 0; e < d.on().length; e++) {
        int j = d.on()[e];
        largest = Math.max(largest, Math.abs(d.coefficients()[e]) * norm[j]);
        for (int i = 0; i < r.length; i++) {
          r[i] -= g.a()[i][j] * d.coefficients()[e];
        }
        if (Arrays.binarySearch(s.deadColumns(), j) >= 0) {
          wrong.add(g.what() + ": a combination of dropped columns");
        }
      }
      double size = EPS * largest * (g.a().length + g.columns());
      double left = Math.sqrt(Arrays.stream(r).map(v -> v * v).sum());
      hold("(m + n) eps left of a combination", size == 0 ? 0 : left / size, 40, g);
    }
  }

  private void choice(PoseGraphs.Network g, FactorState s) {
    int[] dropped = s.deadColumns();
    boolean said = s.report().warnings().stream().anyMatch(w -> w.startsWith("dependent columns "));
    count(said ? "a warning" : "no warning");
    if (dropped.length != g.gauge()[0].length) {
      count("a rank that is not the network's");
      return;
    }
    int[] asked = GaugeOracle.dropped(g);
    if (Arrays.equals(dropped, asked)) {
      count("the rule's columns");
      return;
    }
    double growth = GaugeOracle.growth(g, asked);
    count(said ? "other columns, said" : "other columns, the rule's undetermined");
    if (!(growth > (said ? HARMLESS : UNDETERMINED))) {
      wrong.add(
          "%s: dropped %s instead of %s, growth %.3g, %s"
              .formatted(
                  g.what(),
                  Arrays.toString(dropped),
                  Arrays.toString(asked),
                  growth,
                  s.report().warnings()));
    }
    hold("growth of a choice", GaugeOracle.growth(g, dropped), 1.1e8, g);
  }

  private void errors(PoseGraphs.Network g, FactorState s, int[] byR) {
    var kept = new DenseStatistics(g.a(), g.b(), s.deadColumns());
    double condition = new DenseStatistics(g.a(), g.b(), byR).condition;
    hold("condition of the kept columns beside R's", kept.condition / condition, CONDITION, g);
    double most = Math.max(kept.condition, condition);
    if (!(most < 1e10)) {
      count("too ill-conditioned for standard errors");
      return;
    }
    double[] found = s.basic().errors(s.plan(), ofR(s, byR), new LocalNormal(s));
    double relative = 0;
    for (int j = 0; j < found.length; j++) {
      if (Double.isNaN(found[j]) != Double.isNaN(kept.unscaledErrors[j])) {
        wrong.add(g.what() + ": the error of a dropped column");
      } else if (!Double.isNaN(found[j])) {
        relative = Math.max(relative, Math.abs(found[j] / kept.unscaledErrors[j] - 1));
      }
    }
    count("standard errors compared");
    hold(
        "eps cond (m + n) in standard errors",
        relative / (EPS * most * (g.a().length + g.columns())),
        10,
        g);
  }

  /** ||R^-T e_j|| of the columns that R kept. */
  private static double[] ofR(FactorState s, int[] byR) {
    int n = s.plan().analysis().columns();
    double[] unit = new double[n * n];
    for (int j = 0; j < n; j++) {
      unit[j * n + j] = 1;
    }
    double[] error = new LocalNormal(s).norms(unit, n);
    for (int j = 0; j < n; j++) {
      error[j] *= s.plan().columnScale(j);
    }
    for (int j : byR) {
      error[j] = Double.NaN;
    }
    return error;
  }

  /** Solves with R on the local engine; standard errors in one piece take Spark. */
  private record LocalNormal(FactorState state) implements MovedErrors.Normal {

    @Override
    public double[] solve(double[] g, int width) {
      double[][] x = state.back(forward(g, width), width);
      double[] y = new double[g.length];
      for (int i = 0; i < y.length; i++) {
        y[i] = x[i % width][i / width] / state.plan().columnScale(i / width);
      }
      return y;
    }

    @Override
    public double[] norms(double[] p, int width) {
      double[] c = forward(p, width);
      double[] norm = new double[width];
      for (int i = 0; i < c.length; i++) {
        norm[i % width] = Math.hypot(norm[i % width], c[i]);
      }
      return norm;
    }

    private double[] forward(double[] g, int width) {
      double[][] inUnits = new double[width][g.length / width];
      for (int i = 0; i < g.length; i++) {
        inUnits[i % width][i / width] = g[i] / state.plan().columnScale(i / width);
      }
      return state.forward(inUnits);
    }
  }
}
