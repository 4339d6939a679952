/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.report;

/**
 * Receives the progress of a solve. Called on the driver, from the solving thread and from Spark's
 * listener thread: implementations must be fast and thread-safe.
 */
@FunctionalInterface
public interface ProgressListener {

  /**
   * A state of the solve.
   *
   * @param phase "pattern", "analyze", "executors" (if the solve waits for them), "plan", "rows",
   *     "factorize", "solve", "check", "errors" or "done"; each call on a factorization ends with
   *     "done"
   * @param detail one readable line, such as "level 2 of 4, 37 subtrees, 1.9 TFLOP"
   * @param fraction completed part of the phase, in [0, 1]; never decreases within a phase
   * @param elapsedSeconds since the solve began
   * @param flopsDone in "factorize" the completed flops of the factorization, as counted by the
   *     analysis; {@code fraction} is their share of {@code flops}. The tasks report them: in local
   *     mode after each panel of columns, otherwise with Spark's heartbeats (10 s) and at the end
   *     of a task; on a GPU stage by stage. 0 in other phases
   * @param flops all flops of the factorization in "factorize"; 0 in other phases
   * @param remainingSeconds estimate for the phase at the pace so far; NaN if unknown
   */
  record Progress(
      String phase,
      String detail,
      double fraction,
      double elapsedSeconds,
      double flopsDone,
      double flops,
      double remainingSeconds) {

    /** The state of a phase without flops. */
    public Progress(String phase, String detail, double fraction, double elapsedSeconds) {
      this(phase, detail, fraction, elapsedSeconds, 0, 0, Double.NaN);
    }
  }

  /** Called when the state has changed. */
  void update(Progress progress);

  /**
   * The solve has failed, and its error is about to be thrown. Called once for each failed call, on
   * the solving thread; the default does nothing. An exception thrown here is added to the error as
   * suppressed.
   */
  default void failed(FailureReport report) {}

  /** Ignores everything; progress is then not even measured. */
  ProgressListener NONE = progress -> {};
}
