/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign.regression;

import io.sparqr.numeric.Tolerances;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Least squares by order of standing: the effects' dummies or the intercept, then the regressors in
 * R's order as changed by priorities. A column that depends on those before it is not defined.
 */
final class DenseFit {

  private final Observations rows;
  private final int effectRank;
  private final DenseQr effects;
  private final DenseQr qr;

  /** For each regressor its place among the kept ones, or -1. */
  private final int[] place;

  private final DoubleDouble[] y;
  private final DoubleDouble[] coefficients;
  private final DoubleDouble[] residual;
  private final DoubleDouble[][] pseudoinverse;
  private final double condition;

  /**
   * Fits.
   *
   * @param clear the least part of a column's norm beside those before it that is clearly
   *     independent
   */
  DenseFit(RegressionCase c, Observations rows, double clear) {
    this.rows = rows;
    List<DoubleDouble[]> dummies = rows.dummies(rows.effects());
    effects = new DenseQr(dummies);
    effectRank = effects.rank();
    int[] order = standing(c.options(), rows.matrix().columns());
    var columns = new ArrayList<>(dummies);
    for (int j : order) {
      columns.add(rows.weighted(rows.matrix().columns().get(j).values()));
    }
    qr = new DenseQr(columns);
    if (qr.least() < clear) {
      throw new Ambiguous("a column of which %.1e is left".formatted(qr.least()));
    }
    place = new int[order.length];
    for (int k = 0; k < order.length; k++) {
      place[order[k]] = qr.kept().indexOf(dummies.size() + k);
    }
    y = rows.scaled(rows.y());
    coefficients = qr.solve(y);
    residual = qr.residual(y);
    pseudoinverse = qr.pseudoinverse();
    condition = qr.condition();
  }

  private static int[] standing(RegressionOptions o, List<ModelMatrix.Column> columns) {
    var order = new ArrayList<Integer>();
    var names = columns.stream().map(ModelMatrix.Column::name).toList();
    if (names.contains(ModelMatrix.INTERCEPT)) {
      order.add(0);
    }
    o.keep().forEach(name -> order.add(names.indexOf(name)));
    order.removeIf(j -> j < 0);
    var last = new ArrayList<Integer>();
    for (int j = 0; j < columns.size(); j++) {
      if (o.drop().contains(names.get(j)) || columns.get(j).reference()) {
        last.add(j);
      } else if (!order.contains(j)) {
        order.add(j);
      }
    }
    order.removeAll(last);
    order.addAll(last);
    return order.stream().mapToInt(j -> j).toArray();
  }

  Observations rows() {
    return rows;
  }

  int rank() {
    return qr.rank();
  }

  int effectRank() {
    return effectRank;
  }

  /** Rank of some of the effects together. */
  int rankOf(List<int[]> some) {
    return new DenseQr(rows.dummies(some)).rank();
  }

  boolean defined(int column) {
    return place[column] >= 0;
  }

  /** The columns that are defined, in R's order. */
  int[] defined() {
    return java.util.stream.IntStream.range(0, place.length).filter(this::defined).toArray();
  }

  double coefficient(int column) {
    return coefficients[place[column]].value();
  }

  /** Row of the pseudoinverse that belongs to a column. */
  DoubleDouble[] influence(int column) {
    return pseudoinverse[place[column]];
  }

  DoubleDouble[] residual() {
    return residual;
  }

  /** What the effects alone leave of the response. */
  double effectsLeave() {
    return DoubleDouble.square(effects.residual(y)).value();
  }

  DoubleDouble leverage(int i) {
    return qr.leverage(i);
  }

  double squaredResiduals() {
    return DoubleDouble.square(residual).value();
  }

  double squaredResponse() {
    return DoubleDouble.square(y).value();
  }

  /** The weighted sum of squares about the mean. */
  double squaredDeviations() {
    var ones = new double[rows.count()];
    Arrays.fill(ones, 1);
    var mean = new ArrayList<DoubleDouble[]>();
    mean.add(rows.scaled(ones));
    return DoubleDouble.square(new DenseQr(mean).residual(y)).value();
  }

  /** What rounding may do to the answers of a backward stable method, relative. */
  double rounding() {
    return Tolerances.CONDITIONED * condition;
  }
}
