/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.inference;

import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.plan.Readings;
import io.sparqr.spark.rows.RowReader;
import java.io.Serializable;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Reads a partition's rows again, with their residuals at x and their leverages, and compares them
 * at the end with the first reading. Not thread-safe.
 */
final class Observations {

  private final Fit fit;
  private final int partition;
  private final double @Nullable [] leverage;
  private final Iterator<SparseRow> rows;
  private final RowReader reader;

  @SuppressWarnings("NullAway.Init") // set by next()
  private SparseRow row;

  private int number = -1;
  private boolean counts;

  /**
   * The data of a fit needed for a pass.
   *
   * @param x coefficients
   * @param label index of the right-hand side
   * @param readings fingerprints of the rows
   */
  record Fit(double[] x, int label, Readings readings) implements Serializable {}

  /**
   * The leverages of a partition.
   *
   * @param of of its rows of positive weight, if they are needed
   */
  record Leverages(int partition, double @Nullable [] of) {}

  /** The rows of a partition. */
  Observations(Fit fit, Leverages leverages, Iterator<SparseRow> rows) {
    this.fit = fit;
    this.partition = leverages.partition;
    this.leverage = leverages.of;
    this.rows = rows;
    this.reader = new RowReader(partition, fit.x.length);
  }

  /** The only element of a partition; reads to its end, so that Spark unlocks its block. */
  static <T> T only(Iterator<T> elements) {
    T element = elements.next();
    if (elements.hasNext()) {
      throw new IllegalStateException("a partition with a second element");
    }
    return element;
  }

  /**
   * Moves to the next row, whatever its weight.
   *
   * @return false at the end
   * @throws io.sparqr.error.InputChangedException at the end, if the rows are not those of the fit
   */
  boolean next() {
    if (!rows.hasNext()) {
      var changed = fit.readings.change(partition, reader.fingerprint(), true);
      if (changed.isPresent()) {
        throw changed.get();
      }
      return false;
    }
    row = rows.next();
    counts = reader.read(row);
    number += counts ? 1 : 0;
    return true;
  }

  /** Moves to the next row of positive weight. */
  boolean nextThatCounts() {
    while (next()) {
      if (counts) {
        return true;
      }
    }
    return false;
  }

  /** The partition. */
  int partition() {
    return partition;
  }

  /** Whether the row's weight is positive. */
  boolean counts() {
    return counts;
  }

  /** Number of entries of the row. */
  int count() {
    return reader.count();
  }

  /** Columns [0, count). */
  int[] index() {
    return reader.index();
  }

  /** Values [0, count), times sqrt(weight). */
  double[] value() {
    return reader.value();
  }

  double weight() {
    return row.weight();
  }

  /** sqrt(weight) b. */
  double weightedLabel() {
    return reader.rhs()[fit.label];
  }

  /** sqrt(weight) (b - a'x). */
  double weightedResidual() {
    double r = reader.rhs()[fit.label];
    for (int k = 0; k < reader.count(); k++) {
      r -= reader.value()[k] * fit.x[reader.index()[k]];
    }
    return r;
  }

  /** b - a'x. */
  double residual() {
    double r = row.labels()[fit.label];
    for (int k = 0; k < row.indices().length; k++) {
      r -= row.values()[k] * fit.x[row.indices()[k]];
    }
    return r;
  }

  /** The leverage of a row of positive weight. */
  double leverage() {
    double[] leverage = Objects.requireNonNull(this.leverage);
    if (number >= leverage.length) {
      // There are more rows than before, which is reported at the end.
      return Double.NaN;
    }
    return leverage[number];
  }

  /** Sum of the squares of the weighted deleted residuals of all rows; NaN for a leverage of 1. */
  double press() {
    double sum = 0;
    while (nextThatCounts()) {
      double rest = 1 - leverage();
      double e = rest < Influence.LEVERAGE_ONE ? Double.NaN : weightedResidual() / rest;
      sum += e * e;
    }
    return sum;
  }

  /** One element per row, whatever its weight. */
  Iterator<Influence> influence(Influence.Fit of) {
    return new Iterator<>() {
      private boolean known;
      private boolean more;

      @Override
      public boolean hasNext() {
        more = known ? more : Observations.this.next();
        known = true;
        return more;
      }

      @Override
      public Influence next() {
        if (!hasNext()) {
          throw new NoSuchElementException();
        }
        known = false;
        return counts ? of.of(leverage(), residual(), row.weight()) : of.none(residual());
      }
    };
  }
}
