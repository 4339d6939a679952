/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

/**
 * The one seam between the distributed algorithm and a backend: factors the fronts of one subtree
 * task. The result is a pure function of the problem and the options: the same bits on every run on
 * the same machine, whatever the number of threads.
 */
public interface SubtreeFactorizer extends AutoCloseable {

  /**
   * Assembles and factors the task's fronts, children first.
   *
   * @param problem not modified
   * @param options tolerance and resources
   * @throws io.sparqr.error.InsufficientMemoryException if a front and its children do not fit
   * @throws io.sparqr.error.CudaException if the device fails
   */
  SubtreeFactor factor(SubtreeProblem problem, FactorOptions options);

  /**
   * Whether {@link #factor} itself compares column sums of what went in and what came out, where
   * the values are, and throws an {@code IntegrityFailure} if they depart; else whoever calls it
   * does.
   */
  default boolean checksItself() {
    return false;
  }

  /**
   * Checks that what the last {@link #factor} was given is still what it was when it was first
   * used, as far as it was; for backends that check themselves, and that call's problem. O(values).
   *
   * @throws io.sparqr.error.NumericalIntegrityException if a bit of it is another
   */
  default void verifyGiven(SubtreeProblem problem) {}

  /** Name and version of what computes, for the report. */
  String description();

  /** Releases whatever is held; idempotent. */
  @Override
  void close();
}
