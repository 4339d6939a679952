/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.pattern;

import io.sparqr.error.DimensionMismatchException;
import io.sparqr.error.InsufficientMemoryException;
import io.sparqr.error.MatrixFormatException;
import io.sparqr.error.SparseQrException;
import io.sparqr.spark.parts.OfPartition;
import io.sparqr.spark.plan.Fingerprint;
import io.sparqr.sparse.SparsityPattern;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The statistics of a partition, or of all partitions.
 *
 * @param partition its number; -1 for all
 * @param sum {@link PatternTable#sum}; 0 if patterns are not distinguished
 * @param print of the row patterns if they are not distinguished; otherwise of no rows
 * @param columns n as declared, or -1
 * @param maxIndex largest column index, or -1
 * @param error the error of an invalid row, or null
 */
record PartitionStats(
    int partition,
    Fingerprint fingerprint,
    long sum,
    SparsityPattern.@Nullable Fingerprint print,
    int columns,
    int maxIndex,
    RightHandSides rhs,
    @Nullable SparseQrException error)
    implements OfPartition {

  /**
   * The combined statistics of all partitions; throws the first of their errors.
   *
   * @param stats in the order of the partitions
   * @param declared n, or -1 to take it from the rows
   */
  static PartitionStats sum(List<PartitionStats> stats, int declared) {
    Fingerprint all = Fingerprint.ofNothing();
    long sum = 0;
    int columns = declared;
    int maxIndex = -1;
    int rhsCount = -1;
    double[] rhsMax = {};
    for (PartitionStats s : stats) {
      if (s.error != null) {
        throw s.error;
      }
      all = all.plus(s.fingerprint);
      sum += s.sum;
      maxIndex = Math.max(maxIndex, s.maxIndex);
      columns = agree("columns", columns, s.columns, s.partition);
      rhsCount = agree("right-hand sides", rhsCount, s.rhs.count(), s.partition);
      double[] max = s.rhs.max();
      for (int k = 0; k < max.length; k++) {
        rhsMax = rhsMax.length == 0 ? new double[rhsCount] : rhsMax;
        rhsMax[k] = Math.max(rhsMax[k], max[k]);
      }
    }
    if (all.rows() == 0) {
      throw new MatrixFormatException(
          rhsCount < 0 ? "the input has no rows" : "all rows have weight 0", "input", -1);
    }
    if (rhsCount == 0) {
      throw new MatrixFormatException("the rows have no right-hand side", "input", -1);
    }
    var rhs = new RightHandSides(rhsCount, rhsMax);
    return new PartitionStats(-1, all, sum, null, columns, maxIndex, rhs, null);
  }

  private static int agree(String what, int before, int here, int partition) {
    if (before >= 0 && here >= 0 && before != here) {
      throw new DimensionMismatchException(
          "rows of partition " + partition + " have " + here + " " + what + ", others " + before,
          what,
          before,
          here);
    }
    return Math.max(before, here);
  }

  /** n: as declared, or one more than the largest index. */
  int requireColumns() {
    int n = columns;
    if (n < 0) {
      n = maxIndex + 1;
    } else if (maxIndex >= n) {
      throw new MatrixFormatException(
          "column index " + maxIndex + " out of range [0, " + n + ")", "input", -1);
    }
    if (n == 0) {
      throw new MatrixFormatException("the matrix has no columns", "input", -1);
    }
    if (n == Integer.MAX_VALUE) {
      throw new InsufficientMemoryException("a matrix of 2^31 columns", Long.MAX_VALUE, 0);
    }
    return n;
  }
}
