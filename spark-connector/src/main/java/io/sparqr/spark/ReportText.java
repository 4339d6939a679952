/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import java.util.Arrays;
import java.util.Locale;

/** The readable text of a report. */
final class ReportText {

  /** More right-hand sides than this are summarized. */
  private static final int MOST_LINES = 10;

  private final StringBuilder out = new StringBuilder();

  private ReportText() {}

  /** The text, about ten lines. */
  static String of(SolveReport report) {
    var text = new ReportText();
    text.problem(report);
    text.answer(report);
    text.times(report);
    for (String w : report.warnings()) {
      text.line("warning", "%s", w);
    }
    return text.out.toString();
  }

  private void problem(SolveReport r) {
    SolveReport.Matrix m = r.matrix();
    line(
        "matrix",
        "%,d x %,d, %,d nonzeros, %d right-hand side(s)",
        m.rows(),
        m.columns(),
        m.nonzeros(),
        m.rhs());
    SolveReport.Analysis a = r.analysis();
    SolveReport.Factorization f = r.factorization();
    line(
        "ordering",
        "%s: nnz(R) %,d, %,d fronts, %s",
        a.ordering(),
        f.nnzR(),
        a.fronts(),
        SolveReport.work(a.flops()));
    line("", "%s", a.orderingReason());
    SolveReport.Cluster c = r.cluster();
    line(
        "tree",
        "%d subtree task(s) in %d level(s)%s",
        a.subtreeTasks(),
        a.levels(),
        c.waitedSeconds() == 0
            ? ""
            : String.format(
                Locale.ROOT,
                ", for %d executor(s), waited for %.1f s",
                c.executors(),
                c.waitedSeconds()));
    if (!c.engineReason().isEmpty()) {
      line("engine", "%s (%s)", c.engine(), c.engineReason());
    }
    String reason = f.backendReason().isEmpty() ? "" : " (" + f.backendReason() + ")";
    line("backend", "%s%s", f.backend(), reason);
    if (!f.devices().isEmpty()) {
      line("devices", "%s", String.join(", ", f.devices()));
    }
  }

  private void answer(SolveReport r) {
    SolveReport.RankTest t = r.rankTest();
    line("rank", "%,d of %,d, %s%s", t.rank(), r.matrix().columns(), tolerance(t), dead(t));
    residuals(r.residual().residualNorm());
    double normal = r.residual().normalResidual();
    if (!Double.isNaN(normal)) {
      line("check", "||A'(b-Ax)|| / (||A|| ||b-Ax||) = %.2e", normal);
    }
    SolveReport.Proof p = r.proof();
    line(
        "sums",
        "column norms and probes kept to %.1e%s",
        p.normDeparture(),
        p.redoneTasks() == 0 ? "" : ", %d task(s) done again".formatted(p.redoneTasks()));
  }

  /** A line for each right-hand side, or a summary of many. */
  private void residuals(double[] norm) {
    boolean many = norm.length > MOST_LINES;
    for (int k = 0; k < (many ? 3 : norm.length); k++) {
      line(k == 0 ? "residual" : "", "||b - Ax|| = %.12e", norm[k]);
    }
    if (many) {
      double[] sorted = norm.clone();
      Arrays.sort(sorted);
      line(
          "",
          "%,d right-hand sides: least %.3e, median %.3e, greatest %.3e (a report has all)",
          norm.length,
          sorted[0],
          sorted[norm.length / 2],
          sorted[norm.length - 1]);
    }
  }

  private void times(SolveReport r) {
    SolveReport.Seconds s = r.seconds();
    line(
        "seconds",
        "read %.2f, pattern %.2f, order %.2f, analyze %.2f, plan %.2f, rows %.2f, factorize %.2f,"
            + " solve %.2f, total %.2f",
        s.read(),
        s.pattern(),
        s.order(),
        s.analyze(),
        s.plan(),
        s.assemble(),
        s.factorize(),
        s.solve(),
        s.total());
    line("speed", "%.1f GFLOP/s, %,d bytes shuffled", r.gflops(), r.traffic().shuffleBytes());
  }

  private static String tolerance(SolveReport.RankTest t) {
    return t.tolerance() < 0
        ? "no rank detection (" + t.toleranceReason() + ")"
        : String.format(Locale.ROOT, "tolerance %.2e (%s)", t.tolerance(), t.toleranceReason());
  }

  private static String dead(SolveReport.RankTest t) {
    int[] dead = t.deadColumns();
    if (dead.length == 0) {
      return "";
    }
    var text = new StringBuilder("; dead columns");
    for (int k = 0; k < Math.min(8, dead.length); k++) {
      text.append(k == 0 ? " " : ", ").append(dead[k]);
    }
    return text + (dead.length > 8 ? ", ..." : "");
  }

  private void line(String key, String format, Object... values) {
    out.append(String.format(Locale.ROOT, "%-9s ", key))
        .append(String.format(Locale.ROOT, format, values))
        .append('\n');
  }
}
