/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

/**
 * Hears how far a task has come, in the flops that the analysis counts for its fronts: of a task
 * that comes to its end at the first attempt they add up to those of all its fronts, up to
 * rounding. Called from any of the task's threads, at most some hundred times a front; must be
 * quick and safe for that.
 */
@FunctionalInterface
public interface WorkListener {

  /** Hears nothing. */
  WorkListener NONE = flops -> {};

  /** So many flops more are done. */
  void done(double flops);
}
