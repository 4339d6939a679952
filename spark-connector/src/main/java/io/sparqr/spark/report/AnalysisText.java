/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.report;

import io.sparqr.partition.ResourceModel;
import io.sparqr.partition.SubtreeTask;
import io.sparqr.partition.TreePartition;
import io.sparqr.symbolic.SymbolicSummary;
import java.util.List;
import java.util.Locale;

/** The readable text of an analysis. */
final class AnalysisText {

  private AnalysisText() {}

  static String of(AnalysisReport report) {
    var text = new StringBuilder().append(report.summary()).append('\n');
    text.append(
        "backend               %s (%s)%n"
            .formatted(report.backend().name(), report.backend().reason()));
    line(text, "%-21s %s: %s", "advice", report.advice().take(), report.advice().reason());
    cut(text, report);
    text.append('\n').append(report.elsewhere().processors());
    int each = report.elsewhere().devicesEach();
    text.append(each == 1 ? "\nwith a GPU each" : "\nwith %d GPUs each".formatted(each));
    text.append(", like an H200:\n").append(report.elsewhere().devices());
    report
        .elsewhere()
        .sizes()
        .ifPresent(
            sizes ->
                text.append("\nproblems of this tree with larger or smaller fronts, ")
                    .append(on(report.executors().devices()))
                    .append(":\n")
                    .append(sizes));
    return text.toString();
  }

  /** What executors are like. */
  private static String on(int devices) {
    if (devices == 0) {
      return "executor(s) of " + SymbolicSummary.flopsText(ResourceModel.EXECUTOR_FLOPS) + "/s";
    }
    return devices == 1
        ? "executor(s) with a GPU each, like an H200"
        : "executor(s) with %d GPUs each, like an H200".formatted(devices);
  }

  private static void cut(StringBuilder text, AnalysisReport report) {
    TreePartition cut = report.cut();
    line(
        text,
        "over %d %s: %d subtree tasks in %d level(s), about %.2f s, not under %.2f s, %s an executor",
        report.executors().count(),
        on(report.executors().devices()),
        cut.tasks().size(),
        cut.levels(),
        cut.estimatedSeconds(),
        cut.lowerBoundSeconds(),
        SymbolicSummary.bytesText(report.executorBytes()));
    if (report.executors().count() > 1) {
      line(text, "  a solve would use %s", report.executors().reason());
    }
    for (int level = 0; level < cut.levels(); level++) {
      List<SubtreeTask> tasks = cut.level(level);
      line(
          text,
          "  level %d: %d tasks, %,d fronts, %s, largest task %s, %s",
          level + 1,
          tasks.size(),
          tasks.stream().mapToLong(k -> k.fronts().length).sum(),
          SymbolicSummary.flopsText(tasks.stream().mapToDouble(SubtreeTask::flops).sum()),
          SymbolicSummary.flopsText(tasks.stream().mapToDouble(SubtreeTask::flops).max().orElse(0)),
          SymbolicSummary.bytesText(
              tasks.stream().mapToLong(SubtreeTask::peakBytes).max().orElse(0)));
    }
  }

  private static void line(StringBuilder text, String format, Object... values) {
    text.append(String.format(Locale.ROOT, format, values)).append('\n');
  }
}
