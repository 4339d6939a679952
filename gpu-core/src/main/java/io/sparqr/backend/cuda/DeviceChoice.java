/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import io.sparqr.backend.schedule.FrontDevices;
import io.sparqr.backend.staged.layout.StageProgram;
import io.sparqr.numeric.SubtreeProblem;
import java.util.Optional;

/** Chooses the devices of each front of a task that has several. */
@FunctionalInterface
interface DeviceChoice {

  /** Tells of the task to which the next stages belong. */
  default void task(SubtreeProblem problem) {}

  /** The devices of a stage's fronts; empty: the first device alone. */
  Optional<FrontDevices> of(StageProgram stage);

  /** What the report should say of the choice; empty: nothing. */
  default Optional<String> remark() {
    return Optional.empty();
  }

  /** The first device alone. */
  record Alone(String why) implements DeviceChoice {

    @Override
    public Optional<FrontDevices> of(StageProgram stage) {
      return Optional.empty();
    }

    @Override
    public Optional<String> remark() {
      return Optional.of(why);
    }
  }
}
