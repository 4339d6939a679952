/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.tuning;

import io.sparqr.symbolic.TileBundles;
import io.sparqr.symbolic.TileModel;
import io.sparqr.symbolic.Tuning;
import java.util.Locale;
import java.util.Map;

/** A search's outcome as text. */
final class TuningText {

  private final StringBuilder text = new StringBuilder();

  private TuningText() {}

  static String of(TuningOutcome outcome) {
    var all = new TuningText();
    outcome.tables().forEach(all::table);
    all.pipelining(outcome.pipelining());
    all.steps(outcome);
    all.result(outcome);
    return all.text.toString();
  }

  private void line(String format, Object... values) {
    text.append(String.format(Locale.ROOT, format, values)).append(System.lineSeparator());
  }

  private void table(TuningOutcome.Table table) {
    line("%s: Gflop/s by bundle height (rows) and width of Apply (columns)", table.workload());
    var head = new StringBuilder("  height");
    for (int width : table.widths()) {
      head.append(String.format(Locale.ROOT, "%8d", width * TileModel.TILE));
    }
    line("%s", head);
    for (int h = 0; h < table.heights().length; h++) {
      var row = new StringBuilder();
      row.append(String.format(Locale.ROOT, "%8d", table.heights()[h] * TileModel.TILE));
      for (double g : table.gflops()[h]) {
        row.append(Double.isNaN(g) ? "       -" : String.format(Locale.ROOT, "%8.0f", g));
      }
      line("%s", row);
    }
    line("");
  }

  private void pipelining(Map<Workload, Double> ratios) {
    line("time with pipelining by the time without");
    if (ratios.isEmpty()) {
      line("  not measured: no time");
    }
    ratios.forEach((w, ratio) -> line("  %-16s %6.3f%s", w.words(), ratio, pays(ratio)));
    line("");
  }

  private static String pays(double ratio) {
    return ratio < 1 - Duel.NOISE ? "  it pays" : ratio > 1 + Duel.NOISE ? "  it costs" : "";
  }

  private void steps(TuningOutcome outcome) {
    line("%-38s %-8s %6s", "varied", "best", "time");
    for (TuningOutcome.Step s : outcome.steps()) {
      if (s.value().isEmpty()) {
        line("%-38s %-8s", s.axis(), "no time");
      } else {
        line(
            "%-38s %-8s %6.3f%s", s.axis(), s.value(), s.ratio(), s.accepted() ? "  accepted" : "");
      }
    }
    line("");
  }

  private void result(TuningOutcome outcome) {
    Tuning t = outcome.tuning();
    if (t.equals(Tuning.constants())) {
      line("the constants stay: nothing was clearly faster");
    } else {
      line("time by that of the constants");
      outcome.ratios().forEach((w, ratio) -> line("  %-16s %6.3f", w.words(), ratio));
    }
    TileBundles b = t.tiles().bundles();
    line(
        "bundles: tall %d, narrow %d, much left %d, others %d; small fronts: %d entries, %d columns",
        b.tall(),
        b.narrow(),
        b.much(),
        b.others(),
        t.tiles().smallFrontDoubles(),
        t.tiles().smallFrontColumns());
    line(
        "Apply: %d tasks a multiprocessor, %d column tiles; pipelining %s; chunks of %,d doubles",
        t.applyTasks(), t.applyTiles(), t.pipelining() ? "on" : "off", t.chunkDoubles());
    if (!outcome.ended()) {
      line("(more seconds would try more)");
    }
  }
}
