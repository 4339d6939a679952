/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.reference;

import io.sparqr.backend.schedule.SchedulerOptions;
import io.sparqr.backend.staged.StagedFactorization;
import io.sparqr.backend.staged.executor.RoundExecutor;
import io.sparqr.backend.staged.layout.KeptPlans;
import io.sparqr.backend.staged.layout.PreparedTask;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeFactorizer;
import io.sparqr.numeric.SubtreeProblem;

/**
 * The algorithm of the device - stages, rounds, tasks, dead columns - in plain Java on any machine.
 */
public final class ReferenceSubtreeFactorizer implements SubtreeFactorizer {

  private final RoundExecutor executor;
  private final StagedFactorization staged;

  /** With default task lists. */
  public ReferenceSubtreeFactorizer() {
    this(SchedulerOptions.defaults());
  }

  /** With the given options for cutting tasks. */
  public ReferenceSubtreeFactorizer(SchedulerOptions options) {
    this(new TaskListExecutor(options));
  }

  /** On the given executor, which is closed with this. */
  public ReferenceSubtreeFactorizer(RoundExecutor executor) {
    this(executor, new KeptPlans<>());
  }

  /** The same, with plans that others have left. */
  public ReferenceSubtreeFactorizer(RoundExecutor executor, KeptPlans<PreparedTask> plans) {
    this.executor = executor;
    staged = new StagedFactorization("reference", executor, new HeathFactorizer(), plans);
  }

  @Override
  public SubtreeFactor factor(SubtreeProblem problem, FactorOptions options) {
    return staged.factor(problem, options);
  }

  @Override
  public boolean checksItself() {
    return true;
  }

  @Override
  public void verifyGiven(SubtreeProblem problem) {
    staged.verifyGiven(problem);
  }

  @Override
  public String description() {
    return "reference (task lists in plain Java)";
  }

  @Override
  public void close() {
    staged.keepPlans();
    executor.close();
  }
}
