/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign;

/** What can be wrong with an answer. */
enum Check {
  /** The printed ||b - Ax|| is not that of x, to 1e-6 relative or 1e-12 ||b||. */
  NORM("norm"),
  /** The same by more than 1e-3 ||b||; counted under NORM too. */
  NORM_FAR("far"),
  /** x or the norm is not finite. */
  FINITE("nan"),
  /** An error where there is an answer, or an error that is not ours. */
  ERROR("error"),
  /** Another rank than the clear one. */
  RANK("rank"),
  /** A rank that no view of the matrix supports, where none is clear. */
  IMPLAUSIBLE("implaus"),
  /** The columns in use have a condition above 1e8, and the report does not say so. */
  SILENT("silent"),
  /** The estimate of the condition is off by more than a factor of 100 n. */
  CONDITION("cond"),
  /** The rank is clear, but another x has a smaller residual, or, of least norm, a smaller norm. */
  LEAST("least"),
  /** The measured ||A'r|| / (||A||_F ||r||) is not that of x. */
  GRADIENT("grad"),
  /** The residual is larger after refinement. */
  REFINEMENT("refined"),
  /** The rank differs from that of the same order of columns on another engine or backend. */
  AGREEMENT("differs"),
  /** A constraint does not hold. */
  CONSTRAINT("constr");

  private final String column;

  Check(String column) {
    this.column = column;
  }

  /** Heading in the tables. */
  String column() {
    return column;
  }
}
