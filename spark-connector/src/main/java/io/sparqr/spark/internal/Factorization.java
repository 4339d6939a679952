/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.internal;

import io.sparqr.spark.LeastSquaresSolution;
import io.sparqr.spark.RFactor;
import io.sparqr.spark.SolveReport;
import io.sparqr.spark.plan.Readings;
import io.sparqr.symbolic.SymbolicAnalysis;

/** What stays after a factorization. */
public interface Factorization extends AutoCloseable {
  RowSource source();

  LeastSquaresSolution solve();

  /** Rows as they were factorized, with other labels. */
  LeastSquaresSolution solveAligned(RowSource rows);

  /** The same in any order. */
  LeastSquaresSolution solveFurther(RowSource rows);

  double[] standardErrors(int k);

  /** Of sigma = 1. */
  double[] unscaledErrors();

  SolveReport report();

  int rank();

  int[] deadColumns();

  SymbolicAnalysis analysis();

  RFactor collectR();

  /** What the rows were. */
  Readings readings();

  @Override
  void close();
}
