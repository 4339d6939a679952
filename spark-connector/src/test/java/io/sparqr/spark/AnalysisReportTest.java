/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.partition.SubtreeTask;
import io.sparqr.partition.TreePartition;
import io.sparqr.partition.WhatIf;
import io.sparqr.spark.report.Advice;
import io.sparqr.spark.report.AnalysisReport;
import io.sparqr.spark.report.RunRecord;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import io.sparqr.symbolic.SymbolicSummary;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class AnalysisReportTest {

  private static SubtreeTask task(int id, int level, int worker, long hostBytes) {
    return new SubtreeTask(
        id, level, new int[] {id}, new int[0], new int[0], worker, 10, 1, hostBytes);
  }

  private static AnalysisReport report(SubtreeTask... tasks) {
    return report(0, tasks);
  }

  private static AnalysisReport report(int devices, SubtreeTask... tasks) {
    var analysis =
        SymbolicAnalyzer.analyze(
            Gallery.generate("gen:cells2d12").pattern(), SymbolicOptions.defaults());
    SymbolicSummary summary = SymbolicSummary.of(analysis, 1);
    return new AnalysisReport(
        summary,
        new AnalysisReport.Executors(2, devices, 1, "1 of 2 executors"),
        new TreePartition(List.of(tasks), 2, new int[0], 3, 2),
        1.5,
        new AnalysisReport.Backend("cpu", "<small>"),
        new AnalysisReport.Elsewhere(
            new WhatIf(List.of()), new WhatIf(List.of()), 1, Optional.empty()),
        Advice.of(summary, 3, 100, 1L << 30, 0),
        new AnalysisReport.Seconds(1, 2, 3, 4, 10),
        RunRecord.NONE);
  }

  /**
   * Tasks of one executor and one level run at once; those of other levels or executors do not
   * share memory.
   */
  @Test
  void anExecutorHoldsItsTasksOfALevel() {
    AnalysisReport r =
        report(task(0, 0, 0, 100), task(1, 0, 0, 50), task(2, 0, 1, 120), task(3, 1, 0, 140));
    assertThat(r.executorBytes()).isEqualTo(150);
    assertThat(r.toMap())
        .containsEntry("foretoldExecutorBytes", 150L)
        .containsEntry("foretoldHostBytes", 140L)
        .containsEntry("estimatedSeconds", 3.0)
        .containsEntry("lowerBoundSeconds", 2.0)
        .containsEntry("boundSeconds", 1.5)
        .containsEntry("boundShare", 0.5);
    assertThat(report().executorBytes()).isZero();
  }

  /** Tasks of an executor's devices share its heap. */
  @Test
  void anExecutorHoldsTheTasksOfItsDevices() {
    AnalysisReport r =
        report(2, task(0, 0, 0, 100), task(1, 0, 1, 50), task(2, 0, 2, 120), task(3, 1, 3, 140));
    assertThat(r.executorBytes()).isEqualTo(150);
    assertThat(r.toMap())
        .containsEntry("executors", 2)
        .containsEntry("devices", 2)
        .containsEntry("payingExecutors", 1)
        .containsEntry("payingReason", "1 of 2 executors");
    assertThat(r.toText())
        .contains("over 2 executor(s) with 2 GPUs each", "a solve would use 1 of 2 executors");
  }

  @Test
  void aPageIsTextThatEndsNoTag() {
    assertThat(report(task(0, 0, 0, 100)).toHtml())
        .contains("cpu (&lt;small&gt;)")
        .doesNotContain("<small>");
  }
}
