/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.dependence;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;

/**
 * Decides which columns go: the first of an order, each that some vector of the null space still
 * reaches. Columns stay independent where the null space restricted to those that go is regular, so
 * that going through the columns from the least wanted one on and taking each that is independent
 * of those before it (as a row of the null space's basis) keeps the most wanted ones: what R's lm
 * keeps, whose order is that of the columns. Gauss-Jordan elimination of sparse vectors, the pivot
 * of a column being the vector that has most of its norm there.
 */
final class Elimination {

  /**
   * A vector that has less than this of its norm in a column does not tell that column from the
   * others: to let it go would change the solution by the reciprocal.
   */
  static final double RELIABLE = 1e-8;

  /** Of two values whose difference is a rounding error. */
  private static final double DROP = 1e-12;

  private final int[] place;

  /**
   * Of columns in an order.
   *
   * @param place of each column in the order, the least wanted first
   */
  private Elimination(int[] place) {
    this.place = place;
  }

  /** A vector on its way and the column that it begins with. */
  private record Reaching(SparseVector vector, int lead, int number) {}

  /**
   * What goes, and how each of it depends on what stays.
   *
   * @param basis of the null space, linearly independent
   * @param place of each column in the order in which columns are to go, a permutation
   * @return as many vectors, each 1 in one column that goes and 0 in the others that go; the first
   *     entry of the pair is that column
   */
  static List<Gone> run(List<SparseVector> basis, int[] place) {
    return new Elimination(place).run(basis);
  }

  /**
   * A column that goes.
   *
   * @param column which
   * @param vector of the null space: 1 there, 0 in the other columns that go
   */
  record Gone(int column, SparseVector vector) {}

  private List<Gone> run(List<SparseVector> basis) {
    var queue =
        new PriorityQueue<Reaching>(
            Comparator.<Reaching>comparingInt(r -> place[r.lead]).thenComparing(r -> r.number));
    for (int k = 0; k < basis.size(); k++) {
      SparseVector v = basis.get(k);
      queue.add(new Reaching(v, lead(v), k));
    }
    var gone = new ArrayList<Gone>();
    while (!queue.isEmpty()) {
      var same = new ArrayList<Reaching>();
      same.add(queue.poll());
      int column = same.get(0).lead;
      while (!queue.isEmpty() && queue.peek().lead == column) {
        same.add(queue.poll());
      }
      Reaching pivot = same.get(0);
      for (Reaching r : same) {
        pivot = share(r.vector, column) > share(pivot.vector, column) ? r : pivot;
      }
      SparseVector one = pivot.vector.times(1 / pivot.vector.at(column));
      gone.add(new Gone(column, one));
      for (Reaching r : same) {
        if (r != pivot) {
          SparseVector rest = r.vector.minus(r.vector.at(column), one, column, DROP);
          queue.add(new Reaching(rest, lead(rest), r.number));
        }
      }
    }
    return reduced(gone);
  }

  private static double share(SparseVector v, int column) {
    return Math.abs(v.at(column)) / v.norm();
  }

  /** The first column of the order that a vector reaches reliably. */
  private int lead(SparseVector v) {
    double least = RELIABLE * v.norm();
    int lead = -1;
    for (int i = 0; i < v.count(); i++) {
      int j = v.column()[i];
      if (Math.abs(v.value()[i]) > least && (lead < 0 || place[j] < place[lead])) {
        lead = j;
      }
    }
    return lead;
  }

  /** Takes what goes later out of the vectors of what went before, from the last one back. */
  private static List<Gone> reduced(List<Gone> gone) {
    var vectorOf = new java.util.HashMap<Integer, SparseVector>();
    var out = new ArrayList<Gone>();
    for (int k = gone.size() - 1; k >= 0; k--) {
      Gone g = gone.get(k);
      SparseVector v = g.vector;
      for (int j : g.vector.column()) {
        SparseVector later = j == g.column ? null : vectorOf.get(j);
        if (later != null) {
          v = v.minus(v.at(j), later, j, DROP);
        }
      }
      vectorOf.put(g.column, v);
      out.add(new Gone(g.column, v));
    }
    return cleared(out);
  }

  /**
   * Takes what went before out of the vectors of what goes later, from the first one on: entries
   * that were too small to let a column go by, rounding errors for the most part. O(nonzeros).
   */
  private static List<Gone> cleared(List<Gone> lastFirst) {
    var vectorOf = new java.util.HashMap<Integer, SparseVector>();
    var out = new ArrayList<Gone>();
    for (int k = lastFirst.size() - 1; k >= 0; k--) {
      Gone g = lastFirst.get(k);
      SparseVector v = g.vector;
      for (int j : g.vector.column()) {
        SparseVector before = vectorOf.get(j);
        if (before != null) {
          v = v.minus(v.at(j), before, j, DROP);
        }
      }
      vectorOf.put(g.column, v);
      out.add(new Gone(g.column, v));
    }
    return out;
  }
}
