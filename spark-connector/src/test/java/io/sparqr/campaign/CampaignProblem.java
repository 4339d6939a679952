/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign;

import io.sparqr.spark.model.SparseRow;
import io.sparqr.sparse.CsrMatrix;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * min ||b - A x|| for one or several b.
 *
 * @param family the family's name
 * @param index number in the family; with the campaign's seed it gives the problem
 * @param kind of the family
 * @param a A, m x n
 * @param b by right-hand side, each of size m
 */
record CampaignProblem(String family, long index, Family.Kind kind, CsrMatrix a, double[][] b) {

  /** Draws a problem of the family. */
  static CampaignProblem draw(Family family, long seed, long index) {
    var random = new Random(mix(mix(seed ^ family.name().hashCode()) + index));
    CsrMatrix a = family.matrix().apply(random);
    double[][] b = RightHandSides.draw(a, random);
    return new CampaignProblem(family.name(), index, family.kind(), a, b);
  }

  /** A generator for decisions about this problem that are not part of it. */
  Random random(int salt) {
    return new Random(mix(family.hashCode() + 31L * index + 1_000_003L * salt));
  }

  /** Finalizer of SplitMix64 (Steele, Lea and Flood 2014), so that near seeds are not alike. */
  static long mix(long z) {
    long y = z + 0x9e3779b97f4a7c15L;
    y = (y ^ y >>> 30) * 0xbf58476d1ce4e5b9L;
    y = (y ^ y >>> 27) * 0x94d049bb133111ebL;
    return y ^ y >>> 31;
  }

  /** Rows for the solver. */
  List<SparseRow> rows(double[][] labels, double[] weights) {
    var rows = new ArrayList<SparseRow>(a.rows());
    for (int i = 0; i < a.rows(); i++) {
      double[] label = new double[labels.length];
      for (int k = 0; k < label.length; k++) {
        label[k] = labels[k][i];
      }
      rows.add(
          new SparseRow(
              Arrays.copyOfRange(a.columnIndex(), a.rowStart()[i], a.rowStart()[i + 1]),
              Arrays.copyOfRange(a.values(), a.rowStart()[i], a.rowStart()[i + 1]),
              label,
              weights[i],
              a.columns()));
    }
    return rows;
  }

  /** Weights of 1. */
  double[] ones() {
    double[] w = new double[a.rows()];
    Arrays.fill(w, 1);
    return w;
  }

  @Override
  public String toString() {
    return "%s:%d (%d x %d, %d entries, %d right-hand sides)"
        .formatted(family, index, a.rows(), a.columns(), a.nonzeros(), b.length);
  }
}
