/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.solve;

import io.sparqr.spark.pattern.ColumnChunks;
import io.sparqr.spark.plan.ColumnScales;
import io.sparqr.spark.rows.ParsedRows;
import io.sparqr.spark.rows.RowRhs;
import java.util.Arrays;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Sums over the rows of a partition, in their order: A'r and norms of r for r = b - Ax. Not
 * thread-safe.
 */
final class ResidualSums {

  /** By right-hand side and original column; none for x = 0. */
  private final double @Nullable [][] x;

  private final ResidualAt.Sums sums;

  /** See {@link io.sparqr.spark.plan.SolvePlan#extraordinary}. */
  private final double @Nullable [] factors;

  private final ColumnChunks gradient = new ColumnChunks();
  private NormSum[] residual = new NormSum[0];
  private NormSum[] rhs = new NormSum[0];

  ResidualSums(ResidualAt at) {
    this.x = at.x();
    this.sums = at.sums();
    this.factors = at.factors();
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
      rhs = Stream.generate(NormSum::new).limit(width).toArray(NormSum[]::new);
    }
    if (sums == ResidualAt.Sums.SIZES) {
      addSizes(index, value, from, to, b, at);
      return;
    }
    for (int k = 0; k < width; k++) {
      double r = b[at + k];
      rhs[k].add(r);
      if (x != null && sums == ResidualAt.Sums.COMPENSATED) {
        r = compensated(index, value, from, to, r, x[k]);
      } else if (x != null) {
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

  /** b - a'x by compensated sums (Ogita, Rump and Oishi 2005, SIAM J. Sci. Comput. 26, Dot2). */
  private static double compensated(
      int[] index, double[] value, int from, int to, double b, double[] x) {
    double sum = b;
    double rest = 0;
    for (int e = from; e < to; e++) {
      double product = -value[e] * x[index[e]];
      double next = sum + product;
      double part = next - sum;
      rest += Math.fma(-value[e], x[index[e]], -product) + (sum - (next - part)) + (product - part);
      sum = next;
    }
    return sum + rest;
  }

  private void addSizes(int[] index, double[] value, int from, int to, double[] b, int at) {
    int width = residual.length;
    for (int k = 0; k < width; k++) {
      double s = Math.abs(b[at + k]);
      for (int e = from; x != null && e < to; e++) {
        s += Math.abs(value[e] * x[k][index[e]]);
      }
      residual[k].add(s);
      for (int e = from; e < to; e++) {
        gradient.add((long) index[e] * width + k, Math.abs(inUnit(index[e], value[e])) * s);
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

  /** Norms of the right-hand sides; 0 if sizes are summed. */
  double[] rhsNorms() {
    return Arrays.stream(rhs).mapToDouble(NormSum::norm).toArray();
  }

  /** Norms of the residuals. */
  double[] norms() {
    return Arrays.stream(residual).mapToDouble(NormSum::norm).toArray();
  }
}
