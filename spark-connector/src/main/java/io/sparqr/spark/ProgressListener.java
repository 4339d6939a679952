/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

/**
 * Receives the progress of a solve. Called on the driver, from the solving thread and from Spark's
 * listener thread: implementations must be fast and thread-safe.
 */
@FunctionalInterface
public interface ProgressListener {

  /**
   * A state of the solve.
   *
   * @param phase "pattern", "analyze", "executors" (where they are waited for), "plan", "rows",
   *     "factorize", "solve", "check", "errors" or "done"; each call on a factorization ends with
   *     "done"
   * @param detail one readable line, such as "level 2 of 4, 37 subtrees, 1.9 TFLOP"
   * @param fraction part of the phase that is done, in [0, 1]; never less than before in the same
   *     phase
   * @param elapsedSeconds since the solve began
   * @param flopsDone in "factorize" the flops of the factorization that are done, by the analysis'
   *     count: {@code fraction} is their part. They come from the tasks: in local mode as panels of
   *     columns are done, otherwise with Spark's heartbeats (10 s) and the ends of tasks; on a GPU
   *     they are done stage by stage. In other phases 0
   * @param flops all of them, in "factorize"; otherwise 0
   * @param remainingSeconds of the phase at the pace so far; NaN where that is not known
   */
  record Progress(
      String phase,
      String detail,
      double fraction,
      double elapsedSeconds,
      double flopsDone,
      double flops,
      double remainingSeconds) {

    /** Of a phase without flops. */
    public Progress(String phase, String detail, double fraction, double elapsedSeconds) {
      this(phase, detail, fraction, elapsedSeconds, 0, 0, Double.NaN);
    }
  }

  /** The state has changed. */
  void update(Progress progress);

  /**
   * The solve has failed, and its error is about to be thrown. Called once for each failed call, on
   * the solving thread; the default does nothing. An exception thrown here is added to the error as
   * suppressed.
   */
  default void failed(FailureReport report) {}

  /** Ignores everything; with it nothing is measured either. */
  ProgressListener NONE = progress -> {};
}
