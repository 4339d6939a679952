/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factor;

import java.io.Serializable;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What a task keeps of its factorization, besides what it passes on. */
sealed interface Keeping extends Serializable {

  /** Whether R is stored as frames, for a storage level that keeps bytes. */
  default boolean framed() {
    return false;
  }

  /** The factorization under whose name R also stays on the device. */
  default Optional<String> resident() {
    return Optional.empty();
  }

  /** How x is found in the task, if it is. */
  default Optional<TaskSolution> solution() {
    return Optional.empty();
  }

  /** Whether R is kept. */
  default boolean factor() {
    return false;
  }

  /**
   * R is kept on the host.
   *
   * @param how x is found at once, too; null: it is not
   */
  record OnHost(boolean framed, @Nullable TaskSolution how) implements Keeping {

    OnHost(boolean framed) {
      this(framed, null);
    }

    @Override
    public Optional<TaskSolution> solution() {
      return Optional.ofNullable(how);
    }

    @Override
    public boolean factor() {
      return true;
    }
  }

  /**
   * R on the device, and on the host unless the device can have it alone.
   *
   * @param name the factorization
   */
  record OnDevice(boolean framed, String name) implements Keeping {
    @Override
    public boolean factor() {
      return true;
    }

    @Override
    public Optional<String> resident() {
      return Optional.of(name);
    }
  }

  /** Only the task's part of x is kept, not R. */
  record SolutionOnly(TaskSolution how) implements Keeping {
    @Override
    public Optional<TaskSolution> solution() {
      return Optional.of(how);
    }
  }

  /** Nothing: the task is done again for its contribution blocks, and R is already stored. */
  record Nothing() implements Keeping {}
}
