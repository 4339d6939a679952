/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.model;

import io.sparqr.spark.SparseQRSolver;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Linear equality constraints C x = d for {@link
 * SparseQRSolver#solve(org.apache.spark.api.java.JavaRDD, LinearConstraints)}: p sparse rows of C
 * with their right-hand sides, p far smaller than n. The rows must be independent. Immutable.
 */
public final class LinearConstraints {

  private final List<SparseRow> rows;

  private LinearConstraints(List<SparseRow> rows) {
    this.rows = rows;
  }

  /**
   * Constraints from their rows.
   *
   * @param rows rows of C; the labels are the rows of d, with one label per right-hand side of the
   *     problem; at least one row
   * @throws IllegalArgumentException if there is no row, or a row has no nonzero entry, a negative
   *     or repeated index, a weight, a number that is not finite, or a different number of labels
   *     from the first row
   */
  public static LinearConstraints of(List<SparseRow> rows) {
    if (rows.isEmpty()) {
      throw new IllegalArgumentException("no constraints");
    }
    var checked = new ArrayList<SparseRow>(rows.size());
    for (int i = 0; i < rows.size(); i++) {
      String what = wrong(rows.get(i), rows.get(0).labels().length);
      if (!what.isEmpty()) {
        throw new IllegalArgumentException("constraint " + i + " " + what);
      }
      SparseRow r = rows.get(i);
      checked.add(
          new SparseRow(r.indices().clone(), r.values().clone(), r.labels().clone(), 1, -1));
    }
    return new LinearConstraints(List.copyOf(checked));
  }

  /** As above, for a few rows. */
  public static LinearConstraints of(SparseRow... rows) {
    return of(Arrays.asList(rows));
  }

  private static String wrong(SparseRow row, int labels) {
    int[] index = row.indices();
    if (row.labels().length != labels) {
      return "has " + row.labels().length + " right-hand sides, the first " + labels;
    }
    if (row.weight() != 1) {
      return "has a weight: it holds exactly";
    }
    if (Arrays.stream(index).anyMatch(j -> j < 0)
        || Arrays.stream(index).distinct().count() < index.length) {
      return "has a negative index, or one twice";
    }
    if (!Arrays.stream(row.values()).allMatch(Double::isFinite)
        || !Arrays.stream(row.labels()).allMatch(Double::isFinite)) {
      return "has a number that is not finite";
    }
    return Arrays.stream(row.values()).anyMatch(v -> v != 0) ? "" : "has no entries";
  }

  /** Rows of C with d as their labels; callers must not modify the arrays. */
  public List<SparseRow> rows() {
    return rows;
  }

  /** The number of constraints, p. */
  public int count() {
    return rows.size();
  }
}
