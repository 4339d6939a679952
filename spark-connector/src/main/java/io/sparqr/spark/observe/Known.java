/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.observe;

import io.sparqr.partition.SubtreeTask;
import io.sparqr.partition.TreePartition;
import io.sparqr.spark.cluster.ExecutorWait;
import io.sparqr.spark.engine.Engine;
import io.sparqr.spark.pattern.PatternPass;
import io.sparqr.spark.report.FailureReport;
import io.sparqr.spark.report.ProgressListener;
import io.sparqr.spark.report.RunRecord;
import io.sparqr.spark.report.SolveReport;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Figures of the report collected as they become known, in case the solve fails. */
public final class Known {

  private final Map<String, Object> figures = new LinkedHashMap<>();

  public void pattern(PatternPass.Result found) {
    figures.put("rows", found.rows());
    figures.put("columns", found.columns());
    figures.put("nonzeros", found.nonzeros());
    figures.put("rhs", found.rhs().count());
  }

  /** The analysis and why it has this order. */
  public void analysis(SymbolicAnalysis a, String reason) {
    figures.put("ordering", a.orderingUsed().name());
    figures.put("orderingReason", reason);
    figures.put("fronts", a.fronts());
    figures.put("flops", a.flops());
  }

  /** The executors that the solve has, and when, where and with which options it runs. */
  public void executors(ExecutorWait.Outcome waited, Engine engine, RunRecord run) {
    figures.put("run", run.toMap());
    figures.put("executors", waited.executors());
    figures.put("waitedSeconds", waited.seconds());
    figures.put("engine", engine.name());
    figures.put("engineReason", "");
  }

  /** Notes the cut of the tree and the tolerance of the rank. */
  public void cut(TreePartition cut, double tolerance, String toleranceReason) {
    figures.put("subtreeTasks", cut.tasks().size());
    figures.put("levels", cut.levels());
    figures.put(
        "foretoldHostBytes",
        cut.tasks().stream().mapToLong(SubtreeTask::hostBytes).max().orElse(0));
    figures.put("tolerance", tolerance);
    figures.put("toleranceReason", toleranceReason);
  }

  public Map<String, Object> figures(List<String> warnings) {
    var all = new LinkedHashMap<>(figures);
    all.put("warnings", List.copyOf(warnings));
    return all;
  }

  /** Logs the failure and notifies the listener. */
  public static void tell(ProgressListener listener, FailureReport report) {
    SolveLog.failed(report.phase(), report.seconds().total(), report.error());
    try {
      listener.failed(report);
    } catch (RuntimeException e) {
      report.error().addSuppressed(e);
    }
  }

  /** The figures of a finished factorization, without or with a solution. */
  public static Map<String, Object> of(SolveReport report, boolean solved) {
    Map<String, Object> all = report.toMap();
    all.remove("seconds");
    if (!solved) {
      all.remove("residualNorm");
      all.remove("normalResidual");
    }
    return all;
  }
}
