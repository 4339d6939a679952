/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged;

import io.sparqr.backend.staged.executor.RoundExecutor;
import io.sparqr.backend.staged.layout.StageProgram;
import io.sparqr.numeric.FactorSummary;

/** What the stages of a factorization, and the host's part in them, add up to in its report. */
final class StageTotals {

  private double flops;
  private int stages;
  private long rounds;
  private long tasks;
  private long h2d;
  private long d2h;
  private long peak;
  private double departure;

  /** Adds a stage that the executor has run. */
  void ran(StageProgram program, RoundExecutor.Result result) {
    stages++;
    rounds += program.schedule().rounds();
    tasks += program.schedule().tasks();
    flops += program.schedule().flops();
    h2d += result.h2dBytes();
    d2h += result.d2hBytes();
    peak = Math.max(peak, program.deviceBytes());
  }

  /** Adds floating-point operations that the host has done. */
  void hostFlops(double more) {
    flops += more;
  }

  /** Adds doubles downloaded after a stage's rounds. */
  void downloaded(long doubles) {
    d2h += 8 * doubles;
  }

  /** Takes the relative departure of an accepted stage's column sums. */
  void departed(double found) {
    departure = Math.max(departure, found);
  }

  /** The number of stages so far. */
  int stages() {
    return stages;
  }

  /** The report of a factorization that has ended. */
  FactorSummary summary(
      String backend, String device, int fronts, FactoredFronts done, double seconds) {
    return new FactorSummary(
        backend,
        device,
        new FactorSummary.Work(fronts, done.rank(), flops, seconds, done.droppedNorm()),
        new FactorSummary.DeviceUse(stages, rounds, tasks, h2d, d2h, peak),
        FactorSummary.Gram.NONE,
        0,
        new FactorSummary.Check(Math.max(departure, done.normDeparture()), done.redoneTasks()),
        done.warnings());
  }
}
