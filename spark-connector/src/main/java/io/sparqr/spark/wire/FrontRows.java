/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.wire;

/** Some consecutive rows of R, and of Q'b, of one front, read in place. */
public interface FrontRows {

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

  /** Entry of Q'b. */
  double rhs(int i, int k);
}
