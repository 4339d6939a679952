/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.dependence;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;

/**
 * Chooses the columns to drop: the first ones in a given order, each with a nonzero entry in a
 * remaining vector of the null space. The kept columns are independent if the null space restricted
 * to the dropped ones is regular. Going through the columns from the least wanted one, and dropping
 * each that is independent of the earlier ones (as a row of the null space's basis), therefore
 * keeps the most wanted columns. R's lm makes the same choice, in the order of its columns. The
 * method is Gauss-Jordan elimination of sparse vectors, with the vector that has most of its norm
 * in a column as the pivot of that column.
 */
final class Elimination {

  /** A vector below this fraction of the one from which it comes is a rounding error. */
  private static final double CANCELLED = 1e-11;

  /** A difference below this fraction of its terms is a rounding error. */
  private static final double DROP = 1e-12;

  private final int[] place;
  private final double reliable;

  private Elimination(int[] place, double reliable) {
    this.place = place;
    this.reliable = reliable;
  }

  /** A vector in the elimination, and its leading column in the order. */
  private record Reaching(SparseVector vector, int lead, int number) {}

  /**
   * Chooses the columns to drop, with their dependence on the kept ones.
   *
   * @param basis a basis of the null space
   * @param place position of each column in the order of dropping, a permutation
   * @param reliable a vector with less than this fraction of its norm in a column cannot drop that
   *     column, because the solution would change by the reciprocal
   * @return one entry per basis vector: a dropped column, and a vector that is 1 there and 0 in the
   *     other dropped columns; none if a vector was lost to rounding
   */
  static List<Gone> run(List<SparseVector> basis, int[] place, double reliable) {
    return new Elimination(place, reliable).run(basis);
  }

  /**
   * A dropped column.
   *
   * @param column the column
   * @param vector of the null space: 1 in this column, 0 in the other dropped ones
   */
  record Gone(int column, SparseVector vector) {}

  @SuppressWarnings("ReferenceEquality") // the pivot itself
  private List<Gone> run(List<SparseVector> basis) {
    var queue =
        new PriorityQueue<Reaching>(
            Comparator.<Reaching>comparingInt(r -> place[r.lead]).thenComparing(r -> r.number));
    for (int k = 0; k < basis.size(); k++) {
      SparseVector v = basis.get(k);
      int lead = lead(v);
      if (lead < 0) {
        return List.of();
      }
      queue.add(new Reaching(v, lead, k));
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
          int lead = lead(rest);
          if (lead < 0 || !(rest.norm() > CANCELLED * r.vector.norm())) {
            return List.of();
          }
          queue.add(new Reaching(rest, lead, r.number));
        }
      }
    }
    return reduced(gone);
  }

  private static double share(SparseVector v, int column) {
    return Math.abs(v.at(column)) / v.norm();
  }

  /** The first column in the order with a reliable entry in a vector. */
  private int lead(SparseVector v) {
    double least = reliable * v.norm();
    int lead = -1;
    for (int i = 0; i < v.count(); i++) {
      int j = v.column()[i];
      if (Math.abs(v.value()[i]) > least && (lead < 0 || place[j] < place[lead])) {
        lead = j;
      }
    }
    return lead;
  }

  /**
   * Eliminates columns dropped later from the vectors of those dropped earlier, from the last one
   * back.
   */
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
   * Eliminates columns dropped earlier from the vectors of those dropped later, from the first one
   * on: entries too small to serve as pivots, mostly rounding errors. O(nonzeros).
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
