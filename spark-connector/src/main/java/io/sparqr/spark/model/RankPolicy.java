/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.model;

/** The treatment of an A without full column rank. */
public enum RankPolicy {
  /**
   * A basic solution (zero in the dependent columns); rank and dependent columns are in the report.
   */
  REPORT,
  /** Throws a {@link io.sparqr.error.RankDeficientException}. */
  FAIL
}
