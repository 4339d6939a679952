/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.problem;

import io.sparqr.error.DimensionMismatchException;
import io.sparqr.error.InsufficientMemoryException;
import io.sparqr.spark.engine.JobScope;
import io.sparqr.spark.model.LinearConstraints;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.rows.RowSource;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The rows of T C and T d: constraint i times t_i, which gives it norm 1 when the columns of A are
 * scaled to norm 1, so that a constraint has the weight of a column. They are checked for
 * independence.
 */
final class ConstraintRows {

  private final List<SparseRow> rows;

  /** Columns with entries in the constraints, ascending. */
  private final int[] support;

  /** Size support.length: norms of these columns of A, by which they are divided. */
  private final double[] norm;

  private final double[] factor;

  /** Computes the columns' norms in a pass over the rows. */
  ConstraintRows(RowSource source, LinearConstraints constraints) {
    rows = constraints.rows();
    support =
        rows.stream().flatMapToInt(r -> Arrays.stream(r.indices())).distinct().sorted().toArray();
    int[] of = support;
    double[] found =
        JobScope.run(
            source.context(),
            "norms of the constraints' columns",
            () ->
                source.rows().mapPartitions(it -> look(it, of)).fold(null, ConstraintRows::merge));
    int s = support.length;
    int labels = found == null ? -1 : (int) found[s];
    int mine = rows.get(0).labels().length;
    if (labels >= 0 && labels != mine) {
      throw new DimensionMismatchException(
          "constraints have " + mine + " right-hand sides, the rows " + labels,
          "right-hand sides",
          labels,
          mine);
    }
    requireMemory(Math.max(found == null ? 0 : (long) found[s + 1], support[s - 1] + 1L));
    norm = new double[s];
    for (int k = 0; k < s; k++) {
      boolean good = found != null && found[k] > 0 && Double.isFinite(found[k]);
      norm[k] = good ? found[k] : 1;
    }
    factor = new double[rows.size()];
    for (int i = 0; i < factor.length; i++) {
      double size = 0;
      for (double v : scaled(i)) {
        size = Math.hypot(size, v);
      }
      factor[i] = 1 / size;
    }
    requireIndependent();
  }

  /** Norms of the columns, number of labels, n; invalid rows are left for the reader to reject. */
  private static Iterator<double[]> look(Iterator<SparseRow> rows, int[] support) {
    double[] found = new double[support.length + 2];
    found[support.length] = -1;
    while (rows.hasNext()) {
      SparseRow r = rows.next();
      if (r == null) {
        continue;
      }
      found[support.length] = r.labels().length;
      double n = Math.max(found[support.length + 1], r.columns());
      for (int k = 0; k < r.indices().length; k++) {
        n = Math.max(n, r.indices()[k] + 1.0);
        int at = Arrays.binarySearch(support, r.indices()[k]);
        if (at >= 0) {
          found[at] = Math.hypot(found[at], Math.sqrt(r.weight()) * r.values()[k]);
        }
      }
      found[support.length + 1] = n;
    }
    return List.of(found).iterator();
  }

  private static double[] merge(double[] a, double[] b) {
    if (a == null || b == null) {
      return a == null ? b : a;
    }
    double[] sum = new double[a.length];
    for (int k = 0; k < a.length; k++) {
      sum[k] = k < a.length - 2 ? Math.hypot(a[k], b[k]) : Math.max(a[k], b[k]);
    }
    return sum;
  }

  private void requireMemory(long n) {
    long p = rows.size();
    // R^-T C', the vectors of one batch of solves, and those of the independence test.
    long need = 8 * (p * n + 2 * n * Math.min(p, ConstrainedState.BATCH) + p * support.length);
    long there = Runtime.getRuntime().maxMemory() / 4;
    if (need > there) {
      throw new InsufficientMemoryException(
          "%,d constraints on %,d columns need %,d bytes of the driver, a quarter of its heap is %,d"
              .formatted(p, n, need, there),
          need,
          there);
    }
  }

  /** Constraint i over the columns of the support, with these scaled to norm 1. */
  private double[] scaled(int i) {
    double[] dense = new double[support.length];
    SparseRow r = rows.get(i);
    for (int k = 0; k < r.indices().length; k++) {
      int at = Arrays.binarySearch(support, r.indices()[k]);
      dense[at] = r.values()[k] / norm[at];
    }
    return dense;
  }

  private void requireIndependent() {
    int p = rows.size();
    double limit = 20.0 * (support.length + p) * Math.ulp(1.0);
    var basis = new ThinQr(p);
    double[] d = new double[p];
    for (int i = 0; i < p; i++) {
      double[] row = scaled(i);
      for (int k = 0; k < row.length; k++) {
        row[k] *= factor[i];
      }
      double left = basis.add(row);
      if (left > limit) {
        continue;
      }
      for (int k = 0; k < rows.get(0).labels().length; k++) {
        for (int j = 0; j <= i; j++) {
          d[j] = factor[j] * rows.get(j).labels()[k];
        }
        double size = IntStream.rangeClosed(0, i).mapToDouble(j -> Math.abs(d[j])).max().orElse(0);
        if (Math.abs(basis.leftOf(d, i)) > 1e-10 * size) {
          throw new IllegalArgumentException(
              ("constraint %d contradicts those before it: its row of C depends on theirs, its"
                      + " right-hand side does not follow")
                  .formatted(i));
        }
      }
      throw new IllegalArgumentException(
          "constraint %d depends on those before it, and follows from them: leave it out"
              .formatted(i));
    }
  }

  /** Rows of T C with labels T d. */
  List<SparseRow> rows() {
    return IntStream.range(0, rows.size())
        .mapToObj(
            i -> {
              SparseRow r = rows.get(i);
              return new SparseRow(r.indices(), times(r.values(), i), times(r.labels(), i), 1, -1);
            })
        .toList();
  }

  private double[] times(double[] v, int i) {
    return Arrays.stream(v).map(w -> w * factor[i]).toArray();
  }

  /** t_i. */
  double factor(int i) {
    return factor[i];
  }
}
