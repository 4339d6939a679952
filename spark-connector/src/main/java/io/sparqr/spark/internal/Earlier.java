/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.internal;

import io.sparqr.spark.pattern.PatternPass;
import io.sparqr.spark.plan.Fingerprint;
import io.sparqr.spark.plan.Ridge;

/**
 * What is known of rows that are not read again: rows of R and of Q'b stand for them behind the new
 * rows of a source. QR of [A2; R1] has the R of [A1; A2], for R1'R1 = A1'A1 (Bjorck 1996, Numerical
 * Methods for Least Squares Problems, sec. 3.2.1).
 *
 * @param newPartitions partitions of the source that have new rows, the first ones
 * @param rows that R stands for
 * @param nonzeros their entries
 * @param ridge the penalty, whose rows are in the source already
 */
record Earlier(int newPartitions, long rows, long nonzeros, Ridge ridge) {

  /** Every row is there. */
  static final Earlier NONE = new Earlier(Integer.MAX_VALUE, 0, 0, Ridge.NONE);

  /** Whether rows of R stand for some. */
  boolean any() {
    return this != NONE;
  }

  /** The rows and nonzeros of A, of new rows and of those that R stands for. */
  Fingerprint counted(PatternPass.Result found) {
    if (!any()) {
      return new Fingerprint(found.rows(), found.nonzeros(), 0, 0, 0, 0);
    }
    Fingerprint more = found.readings().total(newPartitions);
    return new Fingerprint(rows + more.rows(), nonzeros + more.nonzeros(), 0, 0, 0, 0);
  }
}
