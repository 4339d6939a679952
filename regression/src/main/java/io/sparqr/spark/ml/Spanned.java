/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.ml;

import io.sparqr.spark.QRFactorization;
import io.sparqr.spark.inference.Inference;
import io.sparqr.spark.model.Dependency;
import io.sparqr.spark.model.SparseRow;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Regressors that the absorbed effects span, beyond those that the fit itself has found dependent.
 * Their coefficients are not identified, whatever numbers a solution has for them. There are two
 * ways to come here: a ridge, which makes every column independent, and a null space in which
 * rounding errors or its size forbade to keep all the effects.
 *
 * @param columns of such regressors, ascending
 * @param warnings for the report
 */
record Spanned(int[] columns, List<String> warnings) {

  private static final Spanned NONE = new Spanned(new int[0], List.of());

  /** Regressors whose estimability is examined, at most; each costs a triangular solve. */
  private static final int MOST = 10_000;

  /**
   * The regressors in the span of the effects. Costs nothing but with a ridge, where it takes
   * another factorization, of the rows alone.
   *
   * @param f of the rows and those of the ridge
   */
  static Spanned of(QRFactorization f, TrainingRows rows, Training source, boolean ridge) {
    int from = source.absorbedFrom();
    if (from <= 0) {
      return NONE;
    }
    if (ridge) {
      var plain = source.solver();
      try (QRFactorization unpenalized = plain.factorize(rows.rdd())) {
        return new Spanned(byEffectsAlone(unpenalized, from), List.of());
      }
    }
    return f.deadColumns().length > 0 ? outOfOrder(f, rows, from) : NONE;
  }

  /** Regressors that combine effects; the ridge separates all other dependent ones. */
  private static int[] byEffectsAlone(QRFactorization f, int from) {
    return f.knownDependencies().stream()
        .filter(d -> d.column() < from && Arrays.stream(d.on()).allMatch(j -> j >= from))
        .mapToInt(Dependency::column)
        .sorted()
        .toArray();
  }

  /** Regressors beside which an effect was dropped, so that their coefficients depend on it. */
  private static Spanned outOfOrder(QRFactorization f, TrainingRows rows, int from) {
    int[] dead = f.deadColumns();
    if (Arrays.stream(dead).noneMatch(j -> j >= from)) {
      return NONE;
    }
    // A combination may have coefficients that are rounding errors: R tells which are not.
    IntStream candidates =
        f.knownDependencies().size() == dead.length
            ? f.knownDependencies().stream()
                .filter(d -> d.column() >= from)
                .flatMapToInt(d -> Arrays.stream(d.on()))
                .filter(j -> j < from)
                .sorted()
                .distinct()
            : IntStream.range(0, from);
    int[] found = notEstimable(f, rows, candidates.limit(MOST).toArray());
    return found.length == 0
        ? NONE
        : new Spanned(
            found,
            List.of(
                "%,d coefficients are not defined: an absorbed effect that depends on their columns"
                        .formatted(found.length)
                    + " could not be kept before them"));
  }

  private static int[] notEstimable(QRFactorization f, TrainingRows rows, int[] columns) {
    int n = f.analysis().columns();
    int[] dead = f.deadColumns();
    int[] live = Arrays.stream(columns).filter(j -> Arrays.binarySearch(dead, j) < 0).toArray();
    var units = new ArrayList<SparseRow>();
    for (int j : live) {
      units.add(new SparseRow(new int[] {j}, new double[] {1}, new double[] {0}, 1, n));
    }
    boolean[] estimable =
        units.isEmpty() ? new boolean[0] : Inference.of(f, rows.rdd()).estimable(units);
    return IntStream.range(0, live.length).filter(k -> !estimable[k]).map(k -> live[k]).toArray();
  }

  /**
   * Removes the figures of these columns.
   *
   * @param x the coefficients, 0 but for rounding errors where a ridge has found them
   * @param errors if they are computed
   */
  void clear(double[] x, @Nullable CoefficientErrors errors, boolean ridge) {
    for (int j : columns) {
      if (ridge) {
        x[j] = 0;
      }
      if (errors != null) {
        errors.values()[j] = Double.NaN;
      }
      if (errors != null && errors.covariance() != null) {
        // The regressors come first, in the covariance, too.
        Arrays.fill(errors.covariance()[j], Double.NaN);
        for (double[] row : errors.covariance()) {
          row[j] = Double.NaN;
        }
      }
    }
  }

  /** These and the dependent columns, ascending. */
  int[] with(int[] dead) {
    return IntStream.concat(Arrays.stream(columns), Arrays.stream(dead))
        .sorted()
        .distinct()
        .toArray();
  }
}
