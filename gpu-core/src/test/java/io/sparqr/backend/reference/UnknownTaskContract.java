/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.reference;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.backend.cpu.CpuSubtreeFactorizer;
import io.sparqr.backend.staged.executor.RoundExecutor;
import io.sparqr.numeric.DeviceCases;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.TestMatrices;
import io.sparqr.numeric.integrity.CheckedFactorizer;
import io.sparqr.numeric.integrity.IntegrityFailure;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * A task of a kind that does not exist fails its stage, with the same error on every executor; the
 * process and the executor live on.
 */
public abstract class UnknownTaskContract {

  /** The kind that is planted. */
  protected static final int KIND = 200;

  private static final List<Integer> PLACES = List.of(0, 17, 60);

  private static final FactorOptions OPTIONS = new FactorOptions(1e-10, 2, 0);

  private final SubtreeProblem problem = DeviceCases.whole("gen:cells2d60");

  /** The executor under test; closed by the factorizer. */
  protected abstract RoundExecutor executor();

  /**
   * Gives a task of the next stage a kind of {@link #KIND}.
   *
   * @param place in the stage's list, from 0
   */
  protected abstract void plant(int place);

  private static String message(int place) {
    return "task %d of a stage's list is of kind %d, which does not exist".formatted(place, KIND);
  }

  @Test
  void itFailsTheStageAndTheNextOneIsRight() {
    try (var plain = new ReferenceSubtreeFactorizer(executor())) {
      SubtreeFactor right = plain.factor(problem, OPTIONS);
      for (int place : PLACES) {
        plant(place);
        assertThatThrownBy(() -> plain.factor(problem, OPTIONS))
            .as("place %d", place)
            .isInstanceOf(IntegrityFailure.class)
            .hasMessage(message(place));
        assertSameBits(plain.factor(problem, OPTIONS), right);
      }
    }
  }

  @Test
  void aCheckedTaskIsDoneAgainAndSaysWhy() {
    var plain = new ReferenceSubtreeFactorizer(executor());
    try (var checked = new CheckedFactorizer(plain, new CpuSubtreeFactorizer())) {
      assertThat(checked.factor(problem, OPTIONS).summary().redoneTasks()).isZero();
      plant(17);
      SubtreeFactor again = checked.factor(problem, OPTIONS);
      assertThat(again.summary().redoneTasks()).isEqualTo(1);
      assertThat(again.summary().warnings())
          .singleElement()
          .asString()
          .contains("was done again", message(17));
    }
  }

  private static void assertSameBits(SubtreeFactor a, SubtreeFactor b) {
    assertThat(a.fronts()).hasSameSizeAs(b.fronts());
    for (int f = 0; f < a.fronts().size(); f++) {
      assertThat(TestMatrices.rowsOfR(a.fronts().get(f)))
          .as("front %d", f)
          .isEqualTo(TestMatrices.rowsOfR(b.fronts().get(f)));
    }
  }
}
