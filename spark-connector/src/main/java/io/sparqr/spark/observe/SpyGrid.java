/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.observe;

import io.sparqr.spark.report.SolveProfile;
import io.sparqr.sparse.SparsityPattern;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.ArrayList;
import java.util.Optional;

/** Counts the entries of a matrix on a grid of at most {@value #MOST} x {@value #MOST} cells. */
final class SpyGrid {

  /** Cells per row of the grid, and rows of cells. */
  static final int MOST = 160;

  private final long rows;
  private final long columns;
  private final int gridRows;
  private final int gridColumns;
  private final long[] cells;

  private SpyGrid(long rows, long columns) {
    this.rows = rows;
    this.columns = columns;
    this.gridRows = (int) Math.min(MOST, rows);
    this.gridColumns = (int) Math.min(MOST, columns);
    this.cells = new long[gridRows * gridColumns];
  }

  /**
   * A with its rows ordered by their first column and its columns in the order of the
   * factorization, the ridge's rows included; rows without entries come last. O(entries of the
   * distinct row patterns), and up to {@value #MOST} times as much if a pattern has many rows.
   */
  static SolveProfile.Spy ofMatrix(SparsityPattern p, SymbolicAnalysis a) {
    var grid = new SpyGrid(p.rows(), p.columns());
    int n = p.columns();
    var next = new long[n + 1];
    int[] first = new int[p.patterns()];
    for (int i = 0; i < first.length; i++) {
      first[i] = first(p, i, a);
      next[first[i]] += p.multiplicity()[i];
    }
    long sum = 0;
    for (int j = 0; j <= n; j++) {
      long count = next[j];
      next[j] = sum;
      sum += count;
    }
    for (int i = 0; i < first.length; i++) {
      long from = next[first[i]];
      long to = from + p.multiplicity()[i];
      next[first[i]] = to;
      for (long k = p.rowStart()[i]; k < p.rowStart()[i + 1]; k++) {
        grid.add(from, to, a.permutation().position(p.columnIndex()[(int) k]));
      }
    }
    return grid.spy();
  }

  /**
   * R at full rank: the fronts' trapezoids and, if the pattern is available, the rows of column
   * singletons, which are unchanged rows of A. O(columns of all fronts), and up to {@value #MOST}
   * times as much if fronts have many pivots.
   *
   * @param pattern empty: not available; rows of singletons are left out
   */
  static SolveProfile.Spy ofFactor(Optional<SparsityPattern> pattern, SymbolicAnalysis a) {
    int n = a.columns();
    var grid = new SpyGrid(n, n);
    for (int f = 0; f < a.fronts(); f++) {
      int first = a.firstPivot(f);
      int end = a.firstPivot(f + 1);
      for (int j = first; j < end; j++) {
        grid.add(first, j + 1, j);
      }
      for (int k = a.fp(f); k < a.fn(f); k++) {
        grid.add(first, end, a.column(f, k));
      }
    }
    if (a.singletons() > 0) {
      pattern.ifPresent(p -> grid.addSingletons(p, a));
    }
    return grid.spy();
  }

  private void addSingletons(SparsityPattern p, SymbolicAnalysis a) {
    for (int i = 0; i < p.patterns(); i++) {
      int row = first(p, i, a);
      for (long k = p.rowStart()[i]; row < a.singletons() && k < p.rowStart()[i + 1]; k++) {
        add(row, row + 1, a.permutation().position(p.columnIndex()[(int) k]));
      }
    }
  }

  /** Least position of the columns of a row pattern; n if it is empty. */
  private static int first(SparsityPattern p, int i, SymbolicAnalysis a) {
    int least = p.columns();
    for (long k = p.rowStart()[i]; k < p.rowStart()[i + 1]; k++) {
      least = Math.min(least, a.permutation().position(p.columnIndex()[(int) k]));
    }
    return least;
  }

  /** One entry in each of the rows [from, to) of a column. */
  private void add(long from, long to, int column) {
    int j = cell(column, columns, gridColumns);
    long row = from;
    while (row < to) {
      int i = cell(row, rows, gridRows);
      // The first row of the next cell.
      long end = Math.min(to, ((i + 1L) * rows + gridRows - 1) / gridRows);
      cells[i * gridColumns + j] += end - row;
      row = end;
    }
  }

  private static int cell(long index, long size, int grid) {
    return (int) (index * grid / size);
  }

  private SolveProfile.Spy spy() {
    var list = new ArrayList<SolveProfile.Cell>();
    for (int i = 0; i < gridRows; i++) {
      for (int j = 0; j < gridColumns; j++) {
        long entries = cells[i * gridColumns + j];
        if (entries > 0) {
          list.add(new SolveProfile.Cell(i, j, entries));
        }
      }
    }
    return new SolveProfile.Spy(rows, columns, gridRows, gridColumns, list);
  }
}
