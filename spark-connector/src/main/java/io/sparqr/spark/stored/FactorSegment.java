/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.stored;

/** Some consecutive rows of R, and of Q'b, of one front, read in place. */
public interface FactorSegment {

  /** The front. */
  int front();

  /** Columns of the front. */
  int fn();

  /** Number of rows. */
  int rows();

  /** Local column of the pivot of row i. */
  int livePivot(int i);

  /** Copies row i: the values of columns livePivot(i) .. fn-1 to into[livePivot(i) .. fn). */
  void row(int i, double[] into);

  /** Copies columns [from, to) of row i, from at least livePivot(i), to into[0 .. to - from). */
  void row(int i, int from, int to, double[] into);

  /** Whether the rows are still to be checked, by a reader of all of them ({@link #requireSum}). */
  default boolean unchecked() {
    return false;
  }

  /**
   * Checks that the rows are unchanged since they were made.
   *
   * @param read sum of the mixed bits ({@link io.sparqr.numeric.BitChecksum}) of all values of all
   *     rows, as they were read
   * @throws io.sparqr.error.NumericalIntegrityException if a bit has changed
   */
  default void requireSum(long read) {}

  /** Entry of Q'b. */
  double rhs(int i, int k);
}
