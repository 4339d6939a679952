/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged;

import io.sparqr.numeric.RowBlock;
import io.sparqr.numeric.SubtreeProblem;
import java.util.Arrays;

/** The rows of a subtree problem grouped by front, each front's in their order. Immutable. */
final class FrontRows {

  private final RowBlock rows;

  /** size nf; place of a front in the problem's list, or -1. */
  private final int[] place;

  private final int[] start;
  private final int[] order;
  private final long[] entries;

  FrontRows(SubtreeProblem problem) {
    rows = problem.rows();
    place = new int[problem.analysis().fronts()];
    Arrays.fill(place, -1);
    int n = problem.fronts().length;
    for (int t = 0; t < n; t++) {
      place[problem.fronts()[t]] = t;
    }
    start = new int[n + 1];
    for (int i = 0; i < rows.rows(); i++) {
      start[placeOf(i) + 1]++;
    }
    for (int t = 0; t < n; t++) {
      start[t + 1] += start[t];
    }
    order = new int[rows.rows()];
    int[] next = Arrays.copyOf(start, n);
    entries = new long[n];
    for (int i = 0; i < order.length; i++) {
      int t = placeOf(i);
      order[next[t]++] = i;
      entries[t] += rows.rowStart()[i + 1] - rows.rowStart()[i] + rows.rhsCount();
    }
  }

  /** The same grouping for rows of the same structure with other values. */
  private FrontRows(FrontRows other, RowBlock values) {
    rows = values;
    place = other.place;
    start = other.start;
    order = other.order;
    entries = other.entries;
  }

  FrontRows withValues(RowBlock values) {
    return new FrontRows(this, values);
  }

  /** Whether a block has the same fronts, positions and number of right-hand sides. */
  boolean sameStructure(RowBlock other) {
    int n = rows.rows();
    int entries = rows.rowStart()[n];
    return other.rows() == n
        && other.rhsCount() == rows.rhsCount()
        && Arrays.equals(rows.front(), other.front())
        && Arrays.equals(rows.rowStart(), other.rowStart())
        && Arrays.equals(rows.position(), 0, entries, other.position(), 0, entries);
  }

  private int placeOf(int row) {
    int f = rows.front()[row];
    if (f < 0 || f >= place.length || place[f] < 0) {
      throw new IllegalArgumentException(
          "row " + row + " belongs to front " + f + ", which is not one of the task's");
    }
    return place[f];
  }

  RowBlock rows() {
    return rows;
  }

  /** Whether front f is one of the task's. */
  boolean has(int f) {
    return place[f] >= 0;
  }

  /** Place of front f in the task's list. */
  int place(int f) {
    return place[f];
  }

  /** Number of rows of front f. */
  int count(int f) {
    return start[place[f] + 1] - start[place[f]];
  }

  /** Row k of front f, k in [0, count). */
  int row(int f, int k) {
    return order[start[place[f]] + k];
  }

  /** How many of front f's rows, from row k on, follow each other in the block; at least 1. */
  int run(int f, int k) {
    int from = start[place[f]] + k;
    int end = start[place[f] + 1];
    if (order[end - 1] - order[from] == end - 1 - from) {
      return end - from;
    }
    int at = from + 1;
    while (at < end && order[at] == order[at - 1] + 1) {
      at++;
    }
    return at - from;
  }

  /** Entries of front f's rows, right-hand sides counted. */
  long entries(int f) {
    return entries[place[f]];
  }

  /** Front f's rows alone, as a block. */
  RowBlock only(int[] fronts) {
    int n = 0;
    int nz = 0;
    for (int f : fronts) {
      n += count(f);
      for (int k = 0; k < count(f); k++) {
        nz += rows.rowStart()[row(f, k) + 1] - rows.rowStart()[row(f, k)];
      }
    }
    int rhs = rows.rhsCount();
    var part =
        new RowBlock(
            new int[n], new int[n + 1], new int[nz], new double[nz], new double[n * rhs], rhs);
    int to = 0;
    int at = 0;
    for (int f : fronts) {
      for (int k = 0; k < count(f); k++, to++) {
        int i = row(f, k);
        int from = rows.rowStart()[i];
        int length = rows.rowStart()[i + 1] - from;
        part.front()[to] = f;
        System.arraycopy(rows.position(), from, part.position(), at, length);
        System.arraycopy(rows.value(), from, part.value(), at, length);
        System.arraycopy(rows.rhs(), i * rhs, part.rhs(), to * rhs, rhs);
        at += length;
        part.rowStart()[to + 1] = at;
      }
    }
    return part;
  }
}
