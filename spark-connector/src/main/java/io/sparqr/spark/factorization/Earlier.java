/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factorization;

import io.sparqr.spark.pattern.PatternPass;
import io.sparqr.spark.plan.Fingerprint;
import io.sparqr.spark.plan.Ridge;

/**
 * Rows that are not read again: behind the new rows of a source come rows of R and Q'b that replace
 * them. QR of [A2; R1] gives the R of [A1; A2], because R1'R1 = A1'A1 (Bjorck 1996, Numerical
 * Methods for Least Squares Problems, sec. 3.2.1).
 *
 * @param newPartitions partitions of the source with new rows, which come first
 * @param rows number of rows replaced by R
 * @param nonzeros their entries
 * @param ridge the penalty, with its rows already in the source
 */
public record Earlier(int newPartitions, long rows, long nonzeros, Ridge ridge) {

  /** Of a problem in which no rows of R stand for rows of A. */
  public static final Earlier NONE = new Earlier(Integer.MAX_VALUE, 0, 0, Ridge.NONE);

  /** Whether rows of R replace any. */
  @SuppressWarnings("ReferenceEquality")
  boolean any() {
    return this != NONE;
  }

  /** The rows and nonzeros of A, counting both the new rows and those replaced by R. */
  public Fingerprint counted(PatternPass.Result found) {
    if (!any()) {
      return new Fingerprint(found.rows(), found.nonzeros(), 0, 0, 0, 0);
    }
    Fingerprint more = found.readings().total(newPartitions);
    return new Fingerprint(rows + more.rows(), nonzeros + more.nonzeros(), 0, 0, 0, 0);
  }
}
