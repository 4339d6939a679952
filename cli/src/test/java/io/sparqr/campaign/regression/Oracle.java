/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign.regression;

import io.sparqr.campaign.regression.Expected.Coefficient;
import io.sparqr.numeric.Tolerances;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What is right for a case, from dense algebra in {@link DoubleDouble}. */
final class Oracle {

  static final String ONE_CLUSTER = "1 cluster: clustered errors need at least two";

  /** Agreement asked of every figure, relative to it and to its standard error. */
  private static final double AGREEMENT = Tolerances.FIGURE;

  /** Squared residuals below this part of the response's are rounding for the most part. */
  private static final double PERFECT = 1e-16;

  private static final double CONSTANT = 1e-24;

  /** Of a column that clearly is independent, more is left. */
  private static final double CLEAR = 1e-5;

  /** The same of one that is nearly a copy. */
  private static final double CLEAR_COPY = 1e-7;

  private final RegressionCase c;
  private final boolean singletons;
  private final List<String> notes = new ArrayList<>();

  private Oracle(RegressionCase c, boolean singletons) {
    this.c = c;
    this.singletons = singletons;
  }

  /**
   * What is right.
   *
   * @param singletons whether rows alone in a level of an effect are left out
   * @throws Ambiguous if more than one answer is right
   */
  static Expected of(RegressionCase c, boolean singletons) {
    return new Oracle(c, singletons).expected();
  }

  private Expected expected() {
    var rows = new Observations(c, singletons);
    if (rows.count() < 2) {
      throw new Ambiguous(rows.count() + " rows");
    }
    for (int[] way : rows.clusters()) {
      if (Arrays.stream(way).max().orElse(0) == 0) {
        return Expected.failing(ONE_CLUSTER);
      }
    }
    boolean copy = c.kinds().contains(TermKind.NEAR_COPY.name());
    var fit = new DenseFit(c, rows, copy ? CLEAR_COPY : CLEAR);
    return c.options().ridge() > 0 ? new DenseRidge(c, rows).expected() : expected(fit);
  }

  private Expected expected(DenseFit fit) {
    Observations rows = fit.rows();
    boolean centred = rows.matrix().hasIntercept() || fit.effectRank() > 0;
    double rss = fit.squaredResiduals();
    double total = centred ? fit.squaredDeviations() : fit.squaredResponse();
    boolean free = rows.count() > fit.rank();
    boolean perfect = rss <= PERFECT * fit.squaredResponse();
    boolean constant = total <= CONSTANT * fit.squaredResponse();
    var covariance = new Covariance(c.options(), fit);
    note(!free, "no degrees of freedom");
    note(perfect, "perfect fit");
    note(constant, "constant label");
    note(covariance.indefinite(), "negative two-way variance");
    note(covariance.anyUndefined(), "leverage 1");
    List<Coefficient> coefficients = coefficients(fit, covariance, free, perfect);
    Map<String, Figure> scalars = scalars(fit, covariance, centred, total, free, perfect);
    if (constant) {
      scalars.put("r2", Figure.NOTHING);
      scalars.put("r2adj", Figure.NOTHING);
      scalars.put("f", Figure.NOTHING);
      scalars.put("fp", Figure.NOTHING);
    }
    boolean ordered = rows.matrix().columns().stream().noneMatch(ModelMatrix.Column::reference);
    return new Expected("", coefficients, ordered, scalars, notes);
  }

  private void note(boolean there, String what) {
    if (there) {
      notes.add(what);
    }
  }

  private List<Coefficient> coefficients(
      DenseFit fit, Covariance covariance, boolean free, boolean perfect) {
    var all = new ArrayList<Coefficient>();
    double[] plain = covariance.variances(false);
    double[] repaired = covariance.variances(true);
    int a = 0;
    List<ModelMatrix.Column> columns = fit.rows().matrix().columns();
    for (int j = 0; j < columns.size(); j++) {
      String name = columns.get(j).name();
      if (!fit.defined(j)) {
        Figure nothing = Figure.NOTHING;
        all.add(new Coefficient(name, false, nothing, nothing, nothing, nothing));
        continue;
      }
      double b = fit.coefficient(j);
      double noise = Math.sqrt(fit.squaredResponse()) * covariance.unit(a);
      double iid = free ? Math.sqrt(fit.squaredResiduals() / (fit.rows().count() - fit.rank())) : 0;
      double size = Math.max(Math.abs(b), iid * covariance.unit(a));
      double slack = AGREEMENT * size + fit.rounding() * noise;
      Figure estimate = Figure.of(b, slack);
      Figure[] tests = {Figure.NOTHING, Figure.NOTHING, Figure.NOTHING};
      if (free && perfect) {
        tests = new Figure[] {Figure.ANY, Figure.ANY, Figure.ANY};
      } else if (free && !covariance.undefined(a)) {
        tests = tests(covariance, a, b, slack, plain[a], repaired[a]);
        for (int k = 0; k < tests.length && covariance.anyUndefined(); k++) {
          tests[k] = tests[k].orNaN();
        }
      }
      all.add(new Coefficient(name, true, estimate, tests[0], tests[1], tests[2]));
      a++;
    }
    return all;
  }

  /** Error, t and p. */
  private static Figure[] tests(
      Covariance covariance, int a, double b, double slack, double plain, double repaired) {
    double error = Math.sqrt(repaired);
    double errorSlack = AGREEMENT * error + covariance.rounding(a);
    Figure said = Figure.of(error, errorSlack);
    // Positive variances of a covariance with another negative eigenvalue may stand.
    said = plain >= 0 ? said.or(Math.sqrt(plain)) : said;
    if (error == 0 || errorSlack > 1e-3 * error || !(covariance.freedom() >= 1)) {
      return new Figure[] {said, Figure.ANY, Figure.ANY};
    }
    double t = b / error;
    double tSlack = (slack + Math.abs(t) * errorSlack) / error;
    Figure test = Figure.of(t, tSlack);
    double p = Tails.student(t, covariance.freedom());
    Figure probability = Figure.of(p, pSlack(t, tSlack, p, covariance.freedom()));
    if (plain > 0 && plain != repaired) {
      double other = b / Math.sqrt(plain);
      test = test.or(other);
      probability = probability.or(Tails.student(other, covariance.freedom()));
    }
    return new Figure[] {said, test, probability};
  }

  private static double pSlack(double t, double slack, double p, double df) {
    double less = Tails.student(Math.max(0, Math.abs(t) - slack), df);
    double more = Tails.student(Math.abs(t) + slack, df);
    return less - more + 1e-9 * p + 1e-14 * Math.min(1, p * 1e10);
  }

  private Map<String, Figure> scalars(
      DenseFit fit,
      Covariance covariance,
      boolean centred,
      double total,
      boolean free,
      boolean perfect) {
    var all = new TreeMap<String, Figure>();
    Observations rows = fit.rows();
    int n = rows.count();
    double df = n - fit.rank();
    double rss = fit.squaredResiduals();
    int ones = centred ? 1 : 0;
    double noise = fit.rounding() * fit.squaredResponse();
    // Of a sum of squares about the mean, and of the squared residuals.
    double relative = AGREEMENT + (noise + 1e-15 * fit.squaredResponse()) / total;
    double residual = AGREEMENT + fit.rounding() * Math.sqrt(fit.squaredResponse() / rss);
    all.put("n", Figure.exactly(n));
    all.put("rank", Figure.exactly(fit.rank()));
    all.put("df", Figure.exactly(df));
    double r2 = 1 - rss / total;
    all.put("r2", Figure.of(r2, relative));
    double ratio = (n - ones) / df;
    all.put("r2adj", free ? Figure.of(1 - (1 - r2) * ratio, relative * ratio) : Figure.NOTHING);
    double sigma = Math.sqrt(rss / df);
    all.put(
        "sigma",
        !free ? Figure.NOTHING : perfect ? Figure.ANY : Figure.of(sigma, residual * sigma));
    double logs = Arrays.stream(rows.weights()).map(Math::log).sum();
    double likelihood =
        0.5 * (logs - n * (Math.log(2 * Math.PI) + 1 - Math.log(n) + Math.log(rss)));
    all.put(
        "loglik",
        perfect ? Figure.ANY : Figure.of(likelihood, residual * (Math.abs(likelihood) + n)));
    all.put("dft", free && !perfect ? Figure.exactly(covariance.freedom()) : Figure.ANY);
    within(all, fit, perfect);
    Figure f = statistic(fit, covariance, total, ones);
    if (!free || f.any() || perfect) {
      f = free ? Figure.ANY : Figure.NOTHING;
      all.put("f", f);
      all.put("fp", f);
      return all;
    }
    boolean iid = c.options().errors().equals("iid");
    int skip = rows.matrix().hasIntercept() ? 1 : 0;
    double df1 = iid ? fit.rank() - ones : fit.defined().length - skip;
    all.put("f", f);
    double p = Tails.fisher(f.value(), df1, covariance.freedom());
    double low = Math.max(0, f.value() - f.tolerance());
    double less = Tails.fisher(low, df1, covariance.freedom());
    double more = Tails.fisher(f.value() + f.tolerance(), df1, covariance.freedom());
    all.put("fp", Figure.of(p, less - more + 1e-9 * p + 1e-14 * Math.min(1, p * 1e10)));
    return all;
  }

  private static void within(Map<String, Figure> all, DenseFit fit, boolean perfect) {
    double left = fit.effectsLeave();
    boolean measured = fit.effectRank() > 0 && fit.defined().length > 0;
    boolean nothing = left <= PERFECT * fit.squaredResponse();
    if (!measured || nothing || perfect) {
      all.put("r2within", Figure.ANY);
      return;
    }
    double noise = fit.rounding() * fit.squaredResponse();
    all.put(
        "r2within", Figure.of(1 - fit.squaredResiduals() / left, AGREEMENT + 10 * noise / left));
  }

  /** F; any if it is not specified. */
  private Figure statistic(DenseFit fit, Covariance covariance, double total, int ones) {
    double df = fit.rows().count() - fit.rank();
    int skip = fit.rows().matrix().hasIntercept() ? 1 : 0;
    double rss = fit.squaredResiduals();
    if (c.options().errors().equals("iid")) {
      int df1 = fit.rank() - ones;
      if (df1 == 0) {
        return Figure.ANY;
      }
      double f = (total - rss) / rss * df / df1;
      double noise = fit.rounding() * fit.squaredResponse() / rss;
      return Figure.of(f, (f + df / df1) * (AGREEMENT + noise * 10));
    }
    boolean none = fit.defined().length <= skip || covariance.anyUndefined();
    return none || covariance.indefinite() ? Figure.ANY : covariance.wald(skip);
  }
}
