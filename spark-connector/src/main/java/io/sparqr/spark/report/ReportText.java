/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.report;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** The readable text of a report. */
final class ReportText {

  /** The largest number of columns that the text names. */
  private static final int SHOWN = 8;

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
    text.run(report.cluster().run());
    for (String n : report.notes()) {
      text.line("note", "%s", n);
    }
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
    SolveReport.Gram g = f.gram();
    if (g.gramFronts() + g.gramRefused() > 0) {
      line(
          "fronts",
          "%,d by their Gram matrix, backward error %.1e as measured%s",
          g.gramFronts(),
          g.gramError(),
          g.gramRefused() == 0 ? "" : ", %,d tried and refused".formatted(g.gramRefused()));
    }
    if (!f.devices().isEmpty()) {
      line("devices", "%s", String.join(", ", f.devices()));
      line("tuning", "%s", f.schedule().tuning());
    }
  }

  private void answer(SolveReport r) {
    SolveReport.RankTest t = r.rankTest();
    line("rank", "%,d of %,d, %s%s", t.rank(), r.matrix().columns(), tolerance(t), dead(t));
    condition(t);
    residual(r.residual());
    criteria(r.criteria());
    SolveReport.Proof p = r.proof();
    line(
        "sums",
        "column norms and probes kept to %.1e%s",
        p.normDeparture(),
        p.redoneTasks() == 0 ? "" : ", %d task(s) done again".formatted(p.redoneTasks()));
  }

  private void condition(SolveReport.RankTest t) {
    if (Double.isNaN(t.conditionEstimate())) {
      return;
    }
    int[] near = t.nearlyDependent();
    line(
        "condition",
        "estimate %.1e%s",
        t.conditionEstimate(),
        near.length == 0 ? "" : ", nearly dependent: " + some(near));
  }

  private void residual(SolveReport.Residual r) {
    double[] norm = r.residualNorm();
    boolean many = norm.length > MOST_LINES;
    for (int k = 0; k < (many ? 3 : norm.length); k++) {
      boolean told = k == 0 && !r.residualSource().equals(SolveReport.Residual.TAIL);
      line(
          k == 0 ? "residual" : "",
          "||b - Ax|| = %.12e%s",
          norm[k],
          told ? " (" + r.residualSource() + ")" : "");
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
    SolveReport.Check c = r.check();
    if (c.made()) {
      line("check", "||A'(b-Ax)|| / (||A|| ||b-Ax||) = %.2e", c.normalResidual());
      line(
          "",
          "backward error %.1f eps, componentwise %.1f eps: %s",
          c.backwardError() / Math.ulp(1.0),
          c.componentwiseError() / Math.ulp(1.0),
          c.verdict());
    }
  }

  private void criteria(QrCriteria c) {
    String key = "criteria";
    for (String line : c.made() ? c.toText().split("\n") : new String[0]) {
      line(key, "%s", line);
      key = "";
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

  private void run(RunRecord run) {
    if (!run.input().isEmpty()) {
      line("input", "%s", run.input());
    }
    if (!run.options().isEmpty()) {
      var given = run.options().entrySet().stream().map(e -> e.getKey() + " " + e.getValue());
      line("options", "%s", given.collect(Collectors.joining(", ")));
    }
    if (!run.toText().isEmpty()) {
      line("run", "%s", run.toText());
    }
  }

  private static String tolerance(SolveReport.RankTest t) {
    return t.tolerance() < 0
        ? "no rank detection (" + t.toleranceReason() + ")"
        : String.format(Locale.ROOT, "tolerance %.2e (%s)", t.tolerance(), t.toleranceReason());
  }

  private static String dead(SolveReport.RankTest t) {
    int[] dead = t.deadColumns();
    return dead.length == 0 ? "" : "; dependent columns " + some(dead);
  }

  /** The first columns of a list. */
  private static String some(int[] columns) {
    String first =
        Arrays.stream(columns)
            .limit(SHOWN)
            .mapToObj(Integer::toString)
            .collect(Collectors.joining(", "));
    return columns.length > SHOWN ? first + ", ..." : first;
  }

  private void line(String key, String format, Object... values) {
    out.append(String.format(Locale.ROOT, "%-9s ", key))
        .append(String.format(Locale.ROOT, format, values))
        .append('\n');
  }
}
