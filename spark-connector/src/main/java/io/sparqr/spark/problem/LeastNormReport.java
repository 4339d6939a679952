/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.problem;

import io.sparqr.spark.condition.Condition;
import io.sparqr.spark.report.SolveReport;
import java.util.ArrayList;
import java.util.List;

/** Reports of minimum-norm solutions, composed from those of the factorizations used. */
final class LeastNormReport {

  private LeastNormReport() {}

  /**
   * The report of the solution for an m x n matrix A of full row rank, by a factorization of A'.
   *
   * @param transpose the report of that factorization
   * @param norms residual norms
   * @param total total seconds
   */
  static SolveReport ofTranspose(
      SolveReport transpose, long m, int n, double[] norms, double total) {
    SolveReport.Matrix matrix = transpose.matrix();
    SolveReport.RankTest test = transpose.rankTest();
    SolveReport.Seconds s = transpose.seconds();
    return new SolveReport(
        new SolveReport.Matrix(m, n, matrix.nonzeros(), matrix.rhs()),
        transpose.analysis(),
        transpose.cluster(),
        transpose.factorization(),
        // Columns of A' that are nearly dependent are rows of A.
        new SolveReport.RankTest(
            test.tolerance(),
            test.toleranceReason(),
            test.rank(),
            new int[0],
            test.conditionEstimate(),
            new int[0]),
        transpose.proof(),
        transpose.traffic(),
        new SolveReport.Residual(norms, SolveReport.Residual.MEASURED),
        s.withSolve(total - s.total(), total),
        transpose.warnings(),
        transpose.notes(),
        transpose.profile(),
        transpose.criteria());
  }

  /**
   * The report of the solution by a factorization of A and a second one of R', with the time of the
   * second counted as solve time.
   *
   * @param elapsed total seconds of the second factorization and solve
   */
  static SolveReport ofTwo(
      SolveReport first, SolveReport second, SolveReport.Residual residual, double elapsed) {
    var notes = new ArrayList<String>();
    notes.add(
        "minimum-norm solution by a second factorization, of R' (rank %,d): %s, %.2f s"
            .formatted(
                first.rankTest().rank(), SolveReport.work(second.analysis().flops()), elapsed));
    notes.addAll(second.notes());
    // Columns of R' are rows of R: what is said of them says nothing to the user.
    var warnings = new ArrayList<>(second.warnings());
    warnings.removeIf(w -> w.startsWith(Condition.WARNING));
    return first
        .withResidual(residual, longer(first, elapsed))
        .withNotes(notes)
        .withWarnings(warnings);
  }

  /**
   * The report of a basic solution that is kept because the minimum-norm equations could not be
   * solved accurately.
   *
   * @param elapsed seconds spent on the attempt
   */
  static SolveReport kept(SolveReport basic, double elapsed) {
    return basic
        .withSeconds(longer(basic, elapsed))
        .withWarnings(
            List.of(
                "a basic solution, not the one of least norm: its equations are too badly"
                    + " conditioned; columns in other units may help"));
  }

  private static SolveReport.Seconds longer(SolveReport report, double elapsed) {
    SolveReport.Seconds s = report.seconds();
    return s.withSolve(s.solve() + elapsed, s.total() + elapsed);
  }
}
