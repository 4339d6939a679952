/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.connect;

import io.sparqr.spark.ConstrainedFactorization;
import io.sparqr.spark.QRFactorization;
import io.sparqr.spark.arrays.FactorArrays;
import io.sparqr.spark.arrays.SentArrays;
import io.sparqr.spark.model.RFactor;
import io.sparqr.spark.python.Parcels;
import io.sparqr.spark.python.PythonSupport;
import io.sparqr.spark.report.LeastSquaresSolution;
import io.sparqr.spark.report.SolveReport;
import io.sparqr.sparse.CsrMatrix;

/**
 * Answers about matrices as {@link Parcels}: "report", "page", "rank", "x0", "x1", ..., "norms",
 * "dead", and what else is wanted: "permutation", "errors0", ..., "multipliers0", ...,
 * "predictions", R as "r.indptr", "r.indices", "r.data".
 */
final class Answers {

  /** The names of the matrix, of its constraints and of rows to predict. */
  static final String MATRIX = "A";

  static final String CONSTRAINTS = "C";
  static final String NEW_ROWS = "new";

  /** Right-hand sides alone. */
  static final String LABELS = "b";

  private Answers() {}

  static Parcels solution(LeastSquaresSolution found, SolveReport page) {
    var parcels =
        new Parcels()
            .text("report", found.report().toJson())
            .text("page", PythonSupport.page(page))
            .text("rank", Integer.toString(found.rank()))
            .numbers("norms", found.residualNorms())
            .integers("dead", found.deadColumns(), found.deadColumns().length);
    for (int k = 0; k < found.rhsCount(); k++) {
      parcels.numbers("x" + k, found.x(k));
    }
    return parcels;
  }

  static Parcels report(SolveReport report) {
    return new Parcels().text("report", report.toJson()).text("page", PythonSupport.page(report));
  }

  /** The solution for the right-hand sides that came with the rows. */
  static Parcels first(QRFactorization f, Words wanted, SentArrays sent) {
    LeastSquaresSolution found = f.solve();
    Parcels parcels = solution(found, f.summary());
    permutation(parcels, f);
    if (wanted.yes("standardErrors")) {
      for (int k = 0; k < found.rhsCount(); k++) {
        parcels.numbers("errors" + k, f.standardErrors(k));
      }
    }
    if (wanted.yes("r")) {
      factor(parcels, f.collectR());
    }
    if (sent.has(NEW_ROWS)) {
      predictions(parcels, f, sent);
    }
    return parcels;
  }

  static Parcels constrained(ConstrainedFactorization f, Words wanted) {
    LeastSquaresSolution found = f.solve();
    Parcels parcels = solution(found, found.report());
    for (int k = 0; k < found.rhsCount(); k++) {
      parcels.numbers("multipliers" + k, f.multipliers(k));
      if (wanted.yes("standardErrors")) {
        parcels.numbers("errors" + k, f.standardErrors(k));
      }
    }
    return parcels;
  }

  static void permutation(Parcels into, QRFactorization f) {
    int[] order = f.analysis().permutation().toArray();
    into.integers("permutation", order, order.length);
  }

  static void factor(Parcels into, RFactor factor) {
    CsrMatrix r = factor.matrix();
    into.integers("r.indptr", r.rowStart(), r.rows() + 1)
        .integers("r.indices", r.columnIndex(), r.nonzeros())
        .numbers("r.data", FactorArrays.values(factor));
  }

  static void predictions(Parcels into, QRFactorization f, SentArrays sent) {
    into.numbers("predictions", PythonSupport.predictions(f, sent.few(NEW_ROWS)));
  }
}
