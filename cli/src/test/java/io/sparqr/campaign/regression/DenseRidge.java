/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign.regression;

import io.sparqr.campaign.regression.Expected.Coefficient;
import io.sparqr.numeric.Tolerances;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * The minimizer of 1/(2 W) sum w (y - yhat)^2 + regParam/2 ||b||^2 with neither the intercept nor
 * the effects penalized: rows sqrt(W regParam) below the others. A regressor in the span of what is
 * not penalized is 0 or not defined.
 */
final class DenseRidge {

  private final RegressionCase c;
  private final Observations rows;

  DenseRidge(RegressionCase c, Observations rows) {
    this.c = c;
    this.rows = rows;
  }

  Expected expected() {
    List<ModelMatrix.Column> columns = rows.matrix().columns();
    int first = rows.matrix().hasIntercept() ? 1 : 0;
    int n = rows.count();
    int more = columns.size() - first;
    double penalty = Math.sqrt(Arrays.stream(rows.weights()).sum() * c.options().ridge());
    var free = new ArrayList<>(rows.dummies(rows.effects()));
    var all = new ArrayList<DoubleDouble[]>();
    free.forEach(x -> all.add(longer(x, more)));
    for (int j = 0; j < columns.size(); j++) {
      DoubleDouble[] x = longer(rows.weighted(columns.get(j).values()), more);
      if (j >= first) {
        x[n + j - first] = DoubleDouble.of(penalty);
      } else {
        free.add(Arrays.copyOf(x, n));
      }
      all.add(x);
    }
    int unpenalized = new DenseQr(free).rank();
    var qr = new DenseQr(all);
    DoubleDouble[] y = longer(rows.scaled(rows.y()), more);
    DoubleDouble[] b = qr.solve(y);
    double size = DoubleDouble.square(y).root().value();
    double slack = Tolerances.CONDITIONED * qr.condition();
    DoubleDouble[][] inverse = qr.pseudoinverse();
    var table = new ArrayList<Coefficient>();
    int effects = all.size() - columns.size();
    for (int j = 0; j < columns.size(); j++) {
      int at = qr.kept().indexOf(effects + j);
      double unit = DoubleDouble.square(inverse[at]).root().value();
      double value = b[at].value();
      Figure estimate =
          Figure.of(value, Tolerances.FIGURE * Math.abs(value) + (slack + 1e-12) * size * unit);
      var extended = new ArrayList<>(free);
      extended.add(rows.weighted(columns.get(j).values()));
      if (j >= first && new DenseQr(extended).rank() == unpenalized) {
        estimate = Figure.of(0, estimate.tolerance()).orNaN();
      }
      Figure any = Figure.ANY;
      table.add(new Coefficient(columns.get(j).name(), true, estimate, any, any, any));
    }
    return new Expected("", table, true, Map.of("n", Figure.exactly(n)), List.of("ridge"));
  }

  private static DoubleDouble[] longer(DoubleDouble[] x, int more) {
    DoubleDouble[] all = Arrays.copyOf(x, x.length + more);
    Arrays.fill(all, x.length, all.length, DoubleDouble.ZERO);
    return all;
  }
}
