/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.solve;

import io.sparqr.spark.pattern.ColumnChunks;
import io.sparqr.spark.plan.Readings;
import io.sparqr.spark.plan.Ridge;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.rows.RowSource;
import io.sparqr.spark.solve.ResidualScan.Left;
import io.sparqr.spark.solve.ResidualScan.Part;
import io.sparqr.threads.Parallel;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One pass over the rows for r = sqrt(W)(b - A x), A' sqrt(W) r and their norms, the ridge's rows
 * included. Sums are taken within partitions in row order and over partitions in partition order:
 * the same bits on every run, whether the rows are read or copies of an earlier pass serve ({@link
 * ResidualRows}). Every pass must find the same rows as the earlier ones.
 */
public final class ResidualPass {

  /** Values for which starting another thread pays. */
  private static final int GRAIN = 1 << 15;

  private final ResidualRows rows;
  private final SolvePlan plan;
  private final int columns;
  private final Ridge ridge;

  /** See {@link SolvePlan#extraordinary}. */
  private final double @Nullable [] factors;

  /** Of the last run, for the next one. */
  private double[] gradient = new double[0];

  /**
   * The result of a pass.
   *
   * @param gradient size n * width, by original column: A'W(b - Ax) - lambda x, of equilibrated
   *     columns where {@link SolvePlan#extraordinary} says so; the receiver's until the next run,
   *     which takes the same array
   * @param residual size width: norms of the residual, ridge rows included
   * @param ofRows size width: norms of the residual without the ridge rows
   * @param rhs size width: norms of the right-hand sides
   * @param frobenius norm of sqrt(W) A and the ridge's rows
   * @param rows number of rows of positive weight
   * @param width right-hand sides
   */
  public record Sums(
      double[] gradient,
      double[] residual,
      double[] ofRows,
      double[] rhs,
      double frobenius,
      long rows,
      int width) {}

  private ResidualPass(
      RowSource source,
      SolvePlan plan,
      @Nullable Readings readings,
      boolean labels,
      RowCopies copies) {
    this.plan = plan;
    this.columns = plan.analysis().columns();
    this.ridge = plan.numbers().ridge();
    this.factors = plan.extraordinary();
    this.rows = new ResidualRows(source, columns, copies, readings, labels);
  }

  /**
   * Passes over the factorized rows.
   *
   * @param copies of these rows, used and left
   */
  public static ResidualPass stored(RowSource source, SolvePlan plan, RowCopies copies) {
    return new ResidualPass(source, plan, plan.readings(), true, copies);
  }

  /** Passes over the factorized rows with other right-hand sides. */
  public static ResidualPass aligned(RowSource source, SolvePlan plan, RowCopies copies) {
    return new ResidualPass(source, plan, plan.readings(), false, copies);
  }

  /**
   * Passes over rows of the same matrix in any order.
   *
   * @param copies of these rows, used and left
   */
  public static ResidualPass further(RowSource source, SolvePlan plan, RowCopies copies) {
    return new ResidualPass(source, plan, null, false, copies);
  }

  /**
   * Runs the pass.
   *
   * @param x one vector for each right-hand side, by original column; none for x = 0
   */
  public Sums run(double @Nullable [][] x) {
    return run(new ResidualAt(x, ResidualAt.Sums.PLAIN, factors));
  }

  /**
   * As above, with residuals as if computed in twice the precision.
   *
   * @param x one vector for each right-hand side, by original column
   */
  public Sums measure(double[][] x) {
    return run(new ResidualAt(x, ResidualAt.Sums.COMPENSATED, factors));
  }

  /**
   * |A|'s by original column, interleaved, for s = |b| + |A| |x|, the ridge's rows included: a
   * bound of the terms of A'(b - Ax).
   *
   * @param x one vector for each right-hand side, by original column
   */
  public double[] sizes(double[][] x) {
    return run(new ResidualAt(x, ResidualAt.Sums.SIZES, factors)).gradient();
  }

  private Sums run(ResidualAt x) {
    ResidualRows.Scanned found = rows.scan(x);
    int width = x.width();
    long count = 0;
    double frobenius = 0;
    double[] residual = null;
    double[] rhs = null;
    for (Part p : found.parts()) {
      count += p.fingerprint().rows();
      frobenius = Math.hypot(frobenius, p.frobenius());
      if (p.fingerprint().rows() == 0) {
        continue;
      }
      if (width >= 0 && p.residual().length != width) {
        throw ResidualScan.widths(p.partition(), p.residual().length, width);
      }
      width = p.residual().length;
      residual = addNorms(p.residual(), residual);
      rhs = addNorms(p.rhs(), rhs);
    }
    width = Math.max(width, 0);
    residual = residual == null ? new double[width] : residual;
    double[] ofRows = residual.clone();
    makeGradient(Math.multiplyExact(columns, width));
    List<ColumnChunks> sums = found.left().stream().map(Left::gradient).toList();
    ColumnChunks.merge(sums, Double::sum, gradient, rows.threads());
    return new Sums(
        withRidge(residual, x),
        residual,
        ofRows,
        rhs == null ? new double[width] : rhs,
        Math.hypot(frobenius, ridge.frobenius(columns)),
        count,
        width);
  }

  /** Norms of both together; of the first alone if there is no second. */
  private static double[] addNorms(double[] norms, double @Nullable [] to) {
    double[] sum = to == null ? new double[norms.length] : to;
    for (int k = 0; k < sum.length; k++) {
      sum[k] = Math.hypot(sum[k], norms[k]);
    }
    return sum;
  }

  /** Zeros. */
  private void makeGradient(int length) {
    if (gradient.length != length) {
      gradient = new double[length];
      return;
    }
    int threads = rows.threads();
    Parallel.loop(length, GRAIN, threads, (from, to, thread) -> Arrays.fill(gradient, from, to, 0));
  }

  private double[] withRidge(double[] residual, ResidualAt at) {
    double[][] x = at.x();
    if (ridge.any() && x != null) {
      for (int k = 0; k < x.length; k++) {
        for (int j = 0; j < columns; j++) {
          double of = ridge.of(j) * x[k][j];
          double part = plan.ordinary(j) ? of : plan.scaled(j, of);
          gradient[j * x.length + k] += at.sums() == ResidualAt.Sums.SIZES ? Math.abs(part) : -part;
        }
        residual[k] = Math.hypot(residual[k], ridge.norm(x[k]));
      }
    }
    return gradient;
  }
}
