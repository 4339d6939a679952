/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda.transfer;

import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.sparqr.backend.cpu.CpuSubtreeFactorizer;
import io.sparqr.backend.reference.TaskListExecutor;
import io.sparqr.backend.schedule.SchedulerOptions;
import io.sparqr.backend.staged.ForwardingExecutor;
import io.sparqr.backend.staged.StagedFactorization;
import io.sparqr.backend.staged.executor.RoundExecutor;
import io.sparqr.backend.staged.layout.StageProgram;
import io.sparqr.numeric.DeviceCases;
import io.sparqr.numeric.FactorOptions;

/** The first stage of a problem, as a device with much memory would get it. */
public final class FirstStage extends ForwardingExecutor {

  @SuppressWarnings("serial") // never written
  private static final class Captured extends RuntimeException {
    private final StageProgram program;

    Captured(StageProgram program) {
      this.program = program;
    }
  }

  /** That of a problem of the gallery. */
  public static StageProgram of(String problem) {
    try (var cpu = new CpuSubtreeFactorizer()) {
      var driver = new StagedFactorization("none", new FirstStage(), cpu);
      var options = new FactorOptions(1e-10, 2, 0);
      return catchThrowableOfType(
              Captured.class, () -> driver.factor(DeviceCases.whole(problem), options))
          .program;
    }
  }

  private final TaskListExecutor plain = new TaskListExecutor(SchedulerOptions.defaults());

  @Override
  protected RoundExecutor inner() {
    return plain;
  }

  @Override
  public long availableBytes() {
    return 1L << 40;
  }

  @Override
  public Result execute(StageProgram program, StageInput input, double tolerance, RowSink sink) {
    throw new Captured(program);
  }
}
