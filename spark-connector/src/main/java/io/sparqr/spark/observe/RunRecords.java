/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.observe;

import io.sparqr.spark.cluster.Executor;
import io.sparqr.spark.engine.Engine;
import io.sparqr.spark.plan.GivenOptions;
import io.sparqr.spark.plan.SolveOptions;
import io.sparqr.spark.report.RunRecord;
import java.util.List;

/** When, where and with which options a solve runs, for its report. */
public final class RunRecords {

  private RunRecords() {}

  /**
   * The record, with the executors of this moment.
   *
   * @param seconds ago that the solve began
   */
  public static RunRecord of(Engine engine, double seconds, SolveOptions options) {
    RunRecord here = RunRecord.here(seconds).withOptions(GivenOptions.of(options));
    if (engine == Engine.LOCAL) {
      return here;
    }
    // none in local mode, whose driver does the work
    List<String> hosts = Executor.of(engine.context()).stream().map(Executor::host).toList();
    return here.of(engine.context().sc().applicationId(), hosts);
  }
}
