/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.reference;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.backend.schedule.SchedulerOptions;
import io.sparqr.backend.staged.executor.RoundExecutor;
import io.sparqr.numeric.DeviceCases;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.integrity.CheckedFactorizer;
import java.lang.reflect.Proxy;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** Solves where R is: what happens if they go wrong, or are not possible. */
class StageSolveTest {

  private static final SubtreeProblem PROBLEM = DeviceCases.whole("gen:cells2d20");
  private static final FactorOptions OPTIONS = new FactorOptions(1e-10, 2, 0).forSolution(true);

  /** The plain executor whose solutions pass through {@code change}. */
  private static RoundExecutor executor(
      UnaryOperator<RoundExecutor.Solved> change, AtomicInteger solves) {
    var plain = new TaskListExecutor(SchedulerOptions.defaults());
    return (RoundExecutor)
        Proxy.newProxyInstance(
            StageSolveTest.class.getClassLoader(),
            new Class<?>[] {RoundExecutor.class},
            (proxy, method, arguments) -> {
              Object result = method.invoke(plain, arguments);
              if (method.getName().equals("backSubstitute")) {
                solves.incrementAndGet();
                return change.apply((RoundExecutor.Solved) result);
              }
              return result;
            });
  }

  private static SubtreeFactor factor(
      UnaryOperator<RoundExecutor.Solved> change, AtomicInteger solves, FactorOptions options) {
    var backend = new ReferenceSubtreeFactorizer(executor(change, solves));
    try (var checked = new CheckedFactorizer(backend, new HeathFactorizer())) {
      return checked.factor(PROBLEM, options);
    }
  }

  @Test
  void aGoodSolutionTakesThePlaceOfR() {
    var solves = new AtomicInteger();
    SubtreeFactor factor = factor(s -> s, solves, OPTIONS);
    assertThat(factor.solution()).isPresent();
    assertThat(factor.fronts()).isEmpty();
    assertThat(factor.summary().redoneTasks()).isZero();
    assertThat(solves).hasValue(1);
  }

  @Test
  void aWrongSolutionIsDoneAgainAndComesAsR() {
    for (double error : new double[] {1e-12, Double.NaN, Double.POSITIVE_INFINITY}) {
      var solves = new AtomicInteger();
      SubtreeFactor factor = factor(s -> new RoundExecutor.Solved(s.x(), error), solves, OPTIONS);
      assertThat(factor.solution()).as("error %s", error).isEmpty();
      assertThat(factor.fronts()).hasSize(PROBLEM.fronts().length);
      assertThat(factor.summary().redoneTasks()).isEqualTo(1);
      assertThat(factor.summary().warnings())
          .singleElement()
          .asString()
          .contains("back substitution has the backward error");
      assertThat(solves).hasValue(1);
    }
  }

  /** Too little memory for one stage, Q kept, or a task that is done again: R comes. */
  @Test
  void whereItIsNotPossibleRComes() {
    var solves = new AtomicInteger();
    SubtreeFactor whole = factor(s -> s, solves, OPTIONS.forSolution(false));
    long less = whole.summary().peakDeviceBytes() / 2;
    var small = new FactorOptions(1e-10, 2, less).forSolution(true);
    var withQ = new FactorOptions(1e-10, 2, 0, true).forSolution(true);
    for (FactorOptions options : new FactorOptions[] {small, withQ, OPTIONS.safely()}) {
      SubtreeFactor factor = factor(s -> s, solves, options);
      assertThat(factor.solution()).isEmpty();
      assertThat(factor.fronts()).hasSize(PROBLEM.fronts().length);
    }
    assertThat(solves).hasValue(0);
  }
}
