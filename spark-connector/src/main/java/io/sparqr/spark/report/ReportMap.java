/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The keys and values of a report's JSON form. */
final class ReportMap {

  private ReportMap() {}

  /** In the order of the JSON form. */
  static Map<String, Object> of(SolveReport r) {
    double[] norm = r.residual().residualNorm();
    SolveReport.Check check = r.residual().check();
    double condition = r.rankTest().conditionEstimate();
    var map = new LinkedHashMap<String, Object>();
    map.put("rows", r.matrix().rows());
    map.put("columns", r.matrix().columns());
    map.put("nonzeros", r.matrix().nonzeros());
    map.put("rhs", r.matrix().rhs());
    map.put("ordering", r.analysis().ordering());
    map.put("orderingReason", r.analysis().orderingReason());
    map.put("nnzR", r.factorization().nnzR());
    map.put("fronts", r.analysis().fronts());
    map.put("flops", r.analysis().flops());
    map.put("flopsDone", r.factorization().flopsDone());
    map.put("method", r.factorization().gram().method());
    map.put("gramFronts", r.factorization().gram().gramFronts());
    map.put("gramRefused", r.factorization().gram().gramRefused());
    map.put("gramFlops", r.factorization().gram().gramFlops());
    map.put("gramError", r.factorization().gram().gramError());
    map.put("tolerance", r.rankTest().tolerance());
    map.put("toleranceReason", r.rankTest().toleranceReason());
    map.put("rank", r.rankTest().rank());
    map.put("deadColumns", r.rankTest().deadColumns());
    map.put("conditionEstimate", Double.isFinite(condition) ? condition : null);
    map.put("nearlyDependent", r.rankTest().nearlyDependent());
    map.put("residualNorm", norm.length == 1 ? norm[0] : norm);
    map.put("residualSource", r.residual().residualSource());
    map.put("normalResidual", check.made() ? check.normalResidual() : null);
    map.put("backwardError", check.made() ? check.backwardError() : null);
    map.put("componentwiseError", check.made() ? check.componentwiseError() : null);
    map.put("verdict", check.made() ? check.verdict() : null);
    map.put("criteria", r.criteria().made() ? r.criteria().toMap() : null);
    map.put("normDeparture", r.proof().normDeparture());
    map.put("backend", r.factorization().backend());
    map.put("backendReason", r.factorization().backendReason());
    map.put("devices", r.factorization().devices());
    map.put("subtreeTasks", r.analysis().subtreeTasks());
    map.put("levels", r.analysis().levels());
    map.put("executors", r.cluster().executors());
    map.put("waitedSeconds", r.cluster().waitedSeconds());
    map.put("engine", r.cluster().engine());
    map.put("engineReason", r.cluster().engineReason());
    map.put("stages", r.factorization().schedule().stages());
    map.put("rounds", r.factorization().schedule().rounds());
    map.put("tasks", r.factorization().schedule().tasks());
    map.put("tuning", r.factorization().schedule().tuning());
    map.put("redoneTasks", r.proof().redoneTasks());
    map.put("shuffleBytes", r.traffic().shuffleBytes());
    map.put("h2dBytes", r.traffic().h2dBytes());
    map.put("d2hBytes", r.traffic().d2hBytes());
    map.put("seconds", r.seconds().toMap());
    map.put("gflops", r.gflops());
    map.put("boundSeconds", r.analysis().boundSeconds());
    map.put("boundShare", r.boundShare());
    map.put("peakDeviceBytes", r.factorization().memory().peakDeviceBytes());
    map.put("peakHostBytes", r.factorization().memory().peakHostBytes());
    map.put("foretoldHostBytes", r.factorization().memory().foretoldHostBytes());
    map.put("factorBytes", r.factorization().factorBytes().toMap());
    map.put("deviceTimeline", timelines(r.profile()));
    map.put("warnings", r.warnings());
    map.put("notes", r.notes());
    map.put("run", r.cluster().run().toMap());
    return map;
  }

  /** What devices did, if a profile was asked for; null: there is nothing. */
  private static @Nullable List<Map<String, Object>> timelines(SolveProfile profile) {
    var all = new ArrayList<Map<String, Object>>();
    for (SolveProfile.Task task : profile.tasks()) {
      for (SolveProfile.DeviceTime t : task.deviceTimes()) {
        all.add(timeline(task.id(), t));
      }
    }
    return all.isEmpty() ? null : all;
  }

  private static Map<String, Object> timeline(int task, SolveProfile.DeviceTime t) {
    var map = new LinkedHashMap<String, Object>();
    map.put("task", task);
    map.put("stage", t.stage());
    map.put("device", t.device());
    map.put("slots", t.slots());
    map.put("seconds", t.seconds());
    map.put("blocks", t.blocks());
    map.put("binSeconds", t.binSeconds());
    map.put("spent", t.spent());
    return map;
  }
}
