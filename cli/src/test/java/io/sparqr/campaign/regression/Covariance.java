/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign.regression;

import io.sparqr.numeric.Tolerances;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The covariance of the defined coefficients under the errors that a case asks for. */
final class Covariance {

  /** Of a leverage that is 1, less than this is missing. */
  private static final double ONE = 1e-10;

  private final DenseFit fit;
  private final RegressionOptions options;
  private final int[] columns;
  private final List<int[]> ways;
  private final double freedom;

  /** As summed. */
  private DoubleDouble[][] plain;

  /** With negative eigenvalues at zero. */
  private DoubleDouble[][] repaired;

  private final boolean[] undefined;
  private boolean anyUndefined;
  private double leverage = 1;

  Covariance(RegressionOptions options, DenseFit fit) {
    this.fit = fit;
    this.options = options;
    columns = fit.defined();
    ways = fit.rows().clusters();
    undefined = new boolean[columns.length];
    int n = fit.rows().count();
    plain = zero();
    double df = n - fit.rank();
    if (options.errors().equals(RegressionOptions.CLUSTER)) {
      freedom = fixest() ? fewest() - 1 : df;
      clustered();
    } else {
      freedom = df;
      alone();
    }
    repaired = plain;
    if (ways.size() == 2 && columns.length > 0) {
      var eigen = new Eigenvalues(plain);
      if (eigen.least() < 0) {
        repaired = eigen.repaired();
      }
    }
  }

  private boolean fixest() {
    return options.correction().isEmpty() || options.correction().equals("fixest");
  }

  private static int clusters(int[] way) {
    return Arrays.stream(way).max().orElse(-1) + 1;
  }

  private int fewest() {
    return ways.stream().mapToInt(Covariance::clusters).min().orElseThrow();
  }

  private DoubleDouble[][] zero() {
    var m = new DoubleDouble[columns.length][columns.length];
    for (DoubleDouble[] row : m) {
      Arrays.fill(row, DoubleDouble.ZERO);
    }
    return m;
  }

  /** Iid and HC: a sum over rows. */
  private void alone() {
    int n = fit.rows().count();
    double rss = fit.squaredResiduals();
    for (int i = 0; i < n; i++) {
      DoubleDouble r = fit.residual()[i];
      DoubleDouble square = r.times(r);
      DoubleDouble rest = DoubleDouble.ONE.minus(fit.leverage(i));
      boolean robust = options.errors().equals("HC2") || options.errors().equals("HC3");
      if (robust && rest.value() < ONE) {
        without(i);
        continue;
      }
      if (robust) {
        leverage = Math.min(leverage, rest.value());
      }
      DoubleDouble omega =
          switch (options.errors()) {
            case "iid" -> DoubleDouble.of(rss / freedom);
            case "HC0" -> square;
            case "HC1" -> square.times(n / freedom);
            case "HC2" -> square.over(rest);
            default -> square.over(rest.times(rest));
          };
      for (int a = 0; a < columns.length; a++) {
        DoubleDouble left = fit.influence(columns[a])[i].times(omega);
        for (int b = 0; b < columns.length; b++) {
          plain[a][b] = plain[a][b].plus(left.times(fit.influence(columns[b])[i]));
        }
      }
    }
  }

  /** A row that a coefficient fits exactly gives that coefficient no such error. */
  private void without(int i) {
    anyUndefined = true;
    for (int a = 0; a < columns.length; a++) {
      DoubleDouble[] p = fit.influence(columns[a]);
      undefined[a] |= Math.abs(p[i].value()) > 1e-12 * unit(a);
    }
  }

  private void clustered() {
    double n = fit.rows().count();
    boolean none = options.correction().equals("none");
    double sized = none ? 1 : (n - 1) / (n - parameters());
    var all = new ArrayList<>(ways);
    if (ways.size() == 2) {
      all.add(both());
    }
    for (int k = 0; k < all.size(); k++) {
      double g = fixest() ? fewest() : clusters(all.get(k));
      add(all.get(k), (k == 2 ? -1 : 1) * sized * (none ? 1 : g / (g - 1)));
    }
  }

  private int[] both() {
    int second = clusters(ways.get(1));
    var codes = new int[ways.get(0).length];
    Arrays.setAll(codes, i -> ways.get(0)[i] * second + ways.get(1)[i]);
    return Observations.dense(codes);
  }

  /** k of the correction. */
  double parameters() {
    List<int[]> effects = fit.rows().effects();
    List<int[]> nested =
        effects.stream()
            .filter(e -> ways.stream().anyMatch(w -> Observations.nested(e, w)))
            .toList();
    return !fixest() || nested.isEmpty()
        ? fit.rank()
        : columns.length + fit.effectRank() - fit.rankOf(nested) + 1;
  }

  private void add(int[] way, double factor) {
    var sums = new DoubleDouble[clusters(way)][columns.length];
    for (DoubleDouble[] s : sums) {
      Arrays.fill(s, DoubleDouble.ZERO);
    }
    for (int i = 0; i < way.length; i++) {
      for (int a = 0; a < columns.length; a++) {
        DoubleDouble score = fit.influence(columns[a])[i].times(fit.residual()[i]);
        sums[way[i]][a] = sums[way[i]][a].plus(score);
      }
    }
    for (DoubleDouble[] s : sums) {
      for (int a = 0; a < columns.length; a++) {
        for (int b = 0; b < columns.length; b++) {
          plain[a][b] = plain[a][b].plus(s[a].times(s[b]).times(factor));
        }
      }
    }
  }

  /** Degrees of freedom of t. */
  double freedom() {
    return freedom;
  }

  /** The norm of a coefficient's row of the pseudoinverse: its error for a sigma of 1. */
  double unit(int a) {
    return DoubleDouble.square(fit.influence(columns[a])).root().value();
  }

  /** Whether the sum of two ways has a negative eigenvalue that is not rounding. */
  boolean indefinite() {
    if (ways.size() < 2 || columns.length == 0) {
      return false;
    }
    var eigen = new Eigenvalues(plain);
    return eigen.least() < -1e-12 * eigen.most();
  }

  double[] variances(boolean mended) {
    var v = new double[columns.length];
    Arrays.setAll(v, a -> (mended ? repaired : plain)[a][a].value());
    return v;
  }

  boolean undefined(int a) {
    return undefined[a];
  }

  boolean anyUndefined() {
    return anyUndefined;
  }

  /** What rounding may do to a standard error, absolute. */
  double rounding(int a) {
    double gross = 0;
    DoubleDouble[] p = fit.influence(columns[a]);
    for (int i = 0; i < p.length; i++) {
      gross += Math.pow(p[i].times(fit.residual()[i]).value(), 2);
    }
    double noise = Math.sqrt(fit.squaredResponse()) * unit(a);
    double sum = fit.rounding() * (noise + Math.sqrt(gross)) / Math.min(1, leverage);
    if (ways.size() < 2) {
      return sum;
    }
    // A difference of variances has their rounding, and the root of a small one enlarges it.
    double v = Math.max(0, plain[a][a].value());
    double error =
        (fit.rounding() + Tolerances.CONDITIONED) * gross * 10 + 2 * sum * Math.sqrt(gross);
    return sum + Math.min(Math.sqrt(error), error / Math.sqrt(Math.max(v, 1e-300)));
  }

  /** The Wald statistic of all coefficients but the intercept, divided by their number. */
  Figure wald(int skip) {
    int q = columns.length - skip;
    var v = new DoubleDouble[q][q];
    var b = new DoubleDouble[q];
    var scale = new double[q];
    for (int i = 0; i < q; i++) {
      scale[i] = Math.sqrt(Math.max(repaired[i + skip][i + skip].value(), 0));
      if (scale[i] == 0) {
        return Figure.ANY;
      }
    }
    for (int i = 0; i < q; i++) {
      b[i] = DoubleDouble.of(fit.coefficient(columns[i + skip]) / scale[i]);
      for (int j = 0; j < q; j++) {
        v[i][j] = repaired[i + skip][j + skip].over(DoubleDouble.of(scale[i]).times(scale[j]));
      }
    }
    var eigen = new Eigenvalues(v);
    double ratio = eigen.least() / eigen.most();
    if (!(ratio > 1e-8)) {
      return Figure.ANY;
    }
    var columnsOfV = new ArrayList<DoubleDouble[]>();
    for (int j = 0; j < q; j++) {
      columnsOfV.add(v[j]);
    }
    double f = DoubleDouble.dot(b, new DenseQr(columnsOfV).solve(b)).value() / q;
    double noise = 0;
    for (int i = 0; i < q; i++) {
      noise = Math.max(noise, rounding(i + skip) / scale[i]);
    }
    return Figure.of(
        f,
        Math.abs(f)
            * (Tolerances.FIGURE + (noise + fit.rounding() + Tolerances.CONDITIONED) / ratio * 10));
  }
}
