/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.solve;

import io.sparqr.spark.pattern.ColumnChunks;
import io.sparqr.spark.plan.ColumnScales;
import io.sparqr.spark.rows.ParsedRows;
import io.sparqr.spark.rows.RowRhs;
import java.util.Arrays;
import java.util.stream.Stream;

/**
 * Sums over the rows of a partition, in their order: A'r and norms of r for r = b - Ax. Not
 * thread-safe.
 */
final class ResidualSums {

  /** One vector for each right-hand side, by original column; null for x = 0. */
  private final double[][] x;

  private final ColumnChunks gradient = new ColumnChunks();
  private NormSum[] residual = new NormSum[0];

  /** See {@link io.sparqr.spark.plan.SolvePlan#extraordinary}; may be null. */
  private final double[] factors;

  /**
   * Sums for an x.
   *
   * @param factors see {@link io.sparqr.spark.plan.SolvePlan#extraordinary}; may be null
   */
  ResidualSums(double[][] x, double[] factors) {
    this.x = x;
    this.factors = factors;
  }

  /**
   * Adds a weighted row.
   *
   * @param index columns of the entries [from, to)
   * @param b right-hand sides [at, at + width)
   */
  void add(int[] index, double[] value, int from, int to, double[] b, int at, int width) {
    if (residual.length != width) {
      residual = Stream.generate(NormSum::new).limit(width).toArray(NormSum[]::new);
    }
    for (int k = 0; k < width; k++) {
      double r = b[at + k];
      if (x != null) {
        double[] xk = x[k];
        for (int e = from; e < to; e++) {
          r -= value[e] * xk[index[e]];
        }
      }
      residual[k].add(r);
      for (int e = from; e < to; e++) {
        gradient.add((long) index[e] * width + k, inUnit(index[e], value[e]) * r);
      }
    }
  }

  /** A value in the unit in which its column's part of A'r is summed. */
  private double inUnit(int column, double value) {
    return factors == null || factors[column] > 0
        ? value
        : ColumnScales.times(value, factors[column], 0);
  }

  /** Adds a parsed row with its right-hand sides; nothing if it has weight 0. */
  void add(ParsedRows.Cursor row, double[] b) {
    if (row.scale() > 0) {
      add(row.index(), row.value(), row.from(), row.to(), b, 0, b.length);
    }
  }

  /** Adds all parsed rows with their right-hand sides. */
  void add(ParsedRows rows, RowRhs b) {
    for (ParsedRows.Run run : rows.runs()) {
      add(run, b.values(run), b.width());
    }
  }

  private void add(ParsedRows.Run run, double[] b, int width) {
    int[] length = run.length();
    double[] scale = run.scale();
    int[] index = run.index();
    double[] value = run.value();
    int to = run.from();
    for (int i = run.first(); i < run.afterLast(); i++) {
      int from = to;
      to += length[i];
      if (scale == null || scale[i] > 0) {
        add(index, value, from, to, b, i * width, width);
      }
    }
  }

  /** A'r by original column, interleaved; equilibrated where the factors say so. */
  ColumnChunks gradient() {
    return gradient;
  }

  /** Norms of the residuals. */
  double[] norms() {
    return Arrays.stream(residual).mapToDouble(NormSum::norm).toArray();
  }
}
