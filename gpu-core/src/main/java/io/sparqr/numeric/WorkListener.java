/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import java.util.List;

/**
 * Listens to the progress of a task, in the flops that the analysis counts for its fronts: for a
 * task that succeeds at the first attempt they add up to those of all its fronts, up to rounding.
 * Called from any of the task's threads, at most some hundred times per front; must be fast and
 * thread-safe.
 */
@FunctionalInterface
public interface WorkListener {

  /** A listener for callers who want no progress. */
  WorkListener NONE = flops -> {};

  /** Reports further flops as done. */
  void done(double flops);

  /** Whether devices should measure their timelines, which costs some 100 ns a device task. */
  default boolean wantsTimelines() {
    return false;
  }

  /**
   * Reports what the devices of a stage did, if {@link #wantsTimelines}; never called for backends
   * without devices.
   *
   * @param devices one for each device that ran the stage; more if it was done again
   */
  default void ran(List<DeviceTimeline> devices) {}
}
