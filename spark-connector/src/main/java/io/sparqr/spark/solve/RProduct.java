/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.solve;

import io.sparqr.numeric.SingletonRows;
import io.sparqr.spark.engine.Held;
import io.sparqr.spark.engine.JobScope;
import io.sparqr.spark.engine.SparkErrors;
import io.sparqr.spark.exchange.PlanHandle;
import io.sparqr.spark.factor.FactorLevels;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.stored.FactorSegment;
import io.sparqr.spark.stored.KeptFronts;
import io.sparqr.spark.stored.Reading;
import io.sparqr.spark.stored.TaskOutput;
import io.sparqr.spark.wire.VectorCodec;
import io.sparqr.spark.wire.VectorCodec.Sparse;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;

/** R times some vectors, where R is stored: one job per level. 2 flops per entry and vector. */
public final class RProduct {

  private final JavaSparkContext context;
  private final PlanHandle broadcast;
  private final FactorLevels levels;
  private final SingletonRows singletons;

  /** Products with the R of these levels and singletons. */
  public RProduct(
      JavaSparkContext context, PlanHandle plan, FactorLevels levels, SingletonRows singletons) {
    this.context = context;
    this.broadcast = plan;
    this.levels = levels;
    this.singletons = singletons;
  }

  /**
   * R x.
   *
   * @param x n x width by position, of the equilibrated columns
   * @return n x width by the position of the row's pivot; 0 at dependent columns
   */
  public double[] times(double[] x, int width, JobScope scope) {
    double[] product = new double[x.length];
    PlanHandle b = broadcast;
    try (var held = new Held()) {
      Broadcast<double[]> sent = held.keep(context.broadcast(x));
      for (int l = 0; l < levels.count(); l++) {
        scope.describe("R times vectors, level " + (l + 1) + " of " + levels.count());
        JavaRDD<byte[]> made =
            levels.level(l).mapPartitions(kept -> rows(b.value(), kept, sent.value(), width));
        for (byte[] frame : SparkErrors.unwrap(made::collect)) {
          Sparse rows = VectorCodec.decodeSparse(frame);
          for (int i = 0; i < rows.position().length; i++) {
            System.arraycopy(rows.value(), i * width, product, rows.position()[i] * width, width);
          }
        }
      }
    }
    for (int p = 0; p < singletons.count(); p++) {
      for (int e = singletons.rowStart()[p]; e < singletons.rowStart()[p + 1]; e++) {
        int from = singletons.position()[e] * width;
        for (int q = 0; q < width; q++) {
          product[p * width + q] =
              Math.fma(singletons.value()[e], x[from + q], product[p * width + q]);
        }
      }
    }
    return product;
  }

  private static Iterator<byte[]> rows(
      SolvePlan plan, Iterator<TaskOutput> kept, double[] x, int width) {
    SymbolicAnalysis a = plan.analysis();
    try (var reading = new Reading()) {
      List<FactorSegment> segments = KeptFronts.rows(kept, 1, reading);
      int count = segments.stream().mapToInt(FactorSegment::rows).sum();
      int[] position = new int[count];
      double[] value = new double[Math.multiplyExact(count, width)];
      int at = 0;
      for (FactorSegment s : segments) {
        double[] row = new double[s.fn()];
        for (int i = 0; i < s.rows(); i++) {
          int pivot = s.livePivot(i);
          s.row(i, row);
          position[at] = a.column(s.front(), pivot);
          for (int k = pivot; k < s.fn(); k++) {
            int from = a.column(s.front(), k) * width;
            for (int q = 0; q < width; q++) {
              value[at * width + q] = Math.fma(row[k], x[from + q], value[at * width + q]);
            }
          }
          at++;
        }
      }
      return List.of(VectorCodec.encodeSparse(new Sparse(position, value, width))).iterator();
    }
  }
}
