/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign.regression;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The rows of a case that count, and what they say: response, weights, columns, effects, clusters.
 * Rows of weight 0 have their levels, but are no observations.
 */
final class Observations {

  private final Sheet sheet;
  private final ModelMatrix matrix;
  private final int[] positive;
  private final double[] y;
  private final double[] weights;
  private final List<int[]> clusters = new ArrayList<>();

  /**
   * Reads a case.
   *
   * @param singletons whether rows alone in a level of an effect are left out
   */
  Observations(RegressionCase c, boolean singletons) {
    Sheet counting = c.sheet().rows(c.rows());
    sheet = singletons ? withoutSingletons(c, counting) : counting;
    if (sheet.rows() == 0) {
      throw new Ambiguous("no rows");
    }
    matrix = new ModelMatrix(c, sheet);
    RegressionOptions o = c.options();
    var all = new double[sheet.rows()];
    Arrays.fill(all, 1);
    if (!o.weights().isEmpty()) {
      Arrays.setAll(all, i -> sheet.column(o.weights()).number(i));
    }
    var some = new ArrayList<Integer>();
    for (int i = 0; i < all.length; i++) {
      if (all[i] > 0) {
        some.add(i);
      }
    }
    positive = some.stream().mapToInt(i -> i).toArray();
    weights = picked(all);
    var response = new double[sheet.rows()];
    var offsets = new ArrayList<>(c.terms().offsets());
    if (!o.offset().isEmpty()) {
      offsets.add(Variable.of(o.offset()));
    }
    for (int i = 0; i < response.length; i++) {
      Variable v = c.formula().response();
      response[i] = v.function().of(sheet.column(v.column()).number(i));
      for (Variable offset : offsets) {
        response[i] -= offset.function().of(sheet.column(offset.column()).number(i));
      }
    }
    y = picked(response);
    for (String name : o.clusters()) {
      clusters.add(Levels.combined(List.of(new Levels(sheet.column(name)))));
    }
    checkWeightsOfZero();
  }

  private static Sheet withoutSingletons(RegressionCase c, Sheet counting) {
    Sheet rest = counting;
    while (rest.rows() > 0) {
      var alone = new boolean[rest.rows()];
      for (FormulaTree.Effect e : c.formula().effects()) {
        Sheet now = rest;
        int[] codes =
            Levels.combined(e.columns().stream().map(n -> new Levels(now.column(n))).toList());
        var counts = new int[codes.length];
        Arrays.stream(codes).forEach(k -> counts[k]++);
        for (int i = 0; i < alone.length; i++) {
          alone[i] |= counts[codes[i]] == 1;
        }
      }
      var left = new ArrayList<Integer>();
      for (int i = 0; i < alone.length; i++) {
        if (!alone[i]) {
          left.add(i);
        }
      }
      if (left.size() == rest.rows()) {
        break;
      }
      rest = rest.rows(left);
    }
    return rest;
  }

  /** Whether rows of weight 0 change the clusters is not specified. */
  private void checkWeightsOfZero() {
    for (int[] way : clusters) {
      boolean same =
          Arrays.stream(way).max().orElse(-1) == Arrays.stream(observed(way)).max().orElse(-1);
      for (int[] effect : matrix.effectCodes()) {
        same &= nested(effect, way) == nested(observed(effect), observed(way));
      }
      if (!same) {
        throw new Ambiguous("clusters of rows without weight");
      }
    }
  }

  /** The codes of the observations, from 0 without gaps. */
  int[] observed(int[] codes) {
    return dense(Arrays.stream(positive).map(i -> codes[i]).toArray());
  }

  /** The same codes from 0 without gaps. */
  static int[] dense(int[] codes) {
    int[] sorted = Arrays.stream(codes).distinct().sorted().toArray();
    return Arrays.stream(codes).map(k -> Arrays.binarySearch(sorted, k)).toArray();
  }

  /** Whether every level has rows of one cluster only. */
  static boolean nested(int[] effect, int[] cluster) {
    var of = new int[effect.length];
    Arrays.fill(of, -1);
    for (int i = 0; i < effect.length; i++) {
      int k = effect[i];
      if (of[k] >= 0 && of[k] != cluster[i]) {
        return false;
      }
      of[k] = cluster[i];
    }
    return true;
  }

  private double[] picked(double[] all) {
    return Arrays.stream(positive).mapToDouble(i -> all[i]).toArray();
  }

  int count() {
    return positive.length;
  }

  ModelMatrix matrix() {
    return matrix;
  }

  double[] y() {
    return y;
  }

  double[] weights() {
    return weights;
  }

  /** Codes of the observations in each way of clustering. */
  List<int[]> clusters() {
    return clusters.stream().map(this::observed).toList();
  }

  /** Codes of the observations in each effect. */
  List<int[]> effects() {
    return matrix.effectCodes().stream().map(this::observed).toList();
  }

  /** A column times the roots of the weights. */
  DoubleDouble[] weighted(double[] column) {
    return scaled(picked(column));
  }

  /** The same of a column of observations. */
  DoubleDouble[] scaled(double[] column) {
    var x = new DoubleDouble[column.length];
    Arrays.setAll(x, i -> DoubleDouble.of(weights[i]).root().times(column[i]));
    return x;
  }

  /** The weighted dummies of effects, by their codes. */
  List<DoubleDouble[]> dummies(List<int[]> effects) {
    var all = new ArrayList<DoubleDouble[]>();
    for (int[] codes : effects) {
      int levels = Arrays.stream(codes).max().orElse(-1) + 1;
      for (int l = 0; l < levels; l++) {
        int level = l;
        var x = new double[codes.length];
        Arrays.setAll(x, i -> codes[i] == level ? 1 : 0);
        all.add(scaled(x));
      }
    }
    return all;
  }
}
