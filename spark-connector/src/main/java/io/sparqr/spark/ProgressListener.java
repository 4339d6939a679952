/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

/**
 * Hears what a solve is doing. Called on the driver, from the solving thread and from Spark's
 * listener thread; an implementation must be quick and safe for that.
 */
@FunctionalInterface
public interface ProgressListener {

  /**
   * A state of the solve.
   *
   * @param phase "pattern", "analyze", "executors" (where they are waited for), "plan", "rows",
   *     "factorize", "solve", "check" or "done"
   * @param detail one readable line, such as "level 2 of 4, 37 subtrees, 1.9 TFLOP"
   * @param fraction part of the phase that is done, in [0, 1]
   * @param elapsedSeconds since the solve began
   */
  record Progress(String phase, String detail, double fraction, double elapsedSeconds) {}

  /** Something happened. */
  void update(Progress progress);

  /**
   * The solve has failed, and its error is about to be thrown. Once for each call that fails, on
   * the solving thread; does nothing by default. What this throws itself is suppressed in the
   * error.
   */
  default void failed(FailureReport report) {}

  /** Hears nothing; with it, nothing is measured either. */
  ProgressListener NONE = progress -> {};
}
