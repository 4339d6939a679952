/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

/**
 * The only interface between the distributed algorithm and a backend: factors the fronts of one
 * subtree task. The result is a pure function of the problem and the options: the same bits on
 * every run on the same machine, whatever the number of threads.
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
   * Whether {@link #factor} itself compares the column sums of its input and output, where the
   * values are, and throws an {@code IntegrityFailure} if they depart; if not, the caller does.
   */
  default boolean checksItself() {
    return false;
  }

  /**
   * Checks that the input values of the last {@link #factor} have not changed since their first
   * use; values not yet used are not checked. For backends that check themselves, with that call's
   * problem. O(values).
   *
   * @throws io.sparqr.error.NumericalIntegrityException if a bit has changed
   */
  default void verifyGiven(SubtreeProblem problem) {}

  /** Name and version of the backend, for the report. */
  String description();

  /** Releases all resources; idempotent. */
  @Override
  void close();
}
