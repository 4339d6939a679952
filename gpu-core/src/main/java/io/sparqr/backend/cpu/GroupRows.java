/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cpu;

import io.sparqr.numeric.ContributionBlock;
import io.sparqr.numeric.RowBlock;
import io.sparqr.numeric.assembly.RowsByFront;
import io.sparqr.numeric.gram.GramShape;
import io.sparqr.numeric.gram.RowPiece;
import io.sparqr.numeric.gram.RowPieces;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.Arrays;
import java.util.List;

/**
 * The shape of a group of fronts and its rows: each row of A a piece, and the blocks that come into
 * the group. An int for each entry of A, and for each column of the tree.
 */
final class GroupRows implements RowPieces {

  private final SymbolicAnalysis analysis;
  private final int[] fronts;
  private final RowsByFront rows;
  private final RowBlock values;
  private final List<List<ContributionBlock>> blocks;
  private final GramShape shape;

  /** By position from that of the first pivot on: number of the column in the group. */
  private final int[] number;

  private final int base;

  /** The positions of the root's other columns. */
  private final int[] tail;

  /** Size K + 1: first piece of a front. */
  private final int[] start;

  /** By piece: where its columns start. */
  private final int[] columnStart;

  private final int[] column;

  /** By piece: a row of A, or -1 - the number of a block. */
  private final int[] source;

  private final ContributionBlock[] block;

  /**
   * Gathers.
   *
   * @param fronts of the group, in postorder
   * @param blocks by front: those that come into it
   */
  GroupRows(
      SymbolicAnalysis analysis,
      int[] fronts,
      RowsByFront rows,
      List<List<ContributionBlock>> blocks) {
    this.analysis = analysis;
    this.fronts = fronts;
    this.rows = rows;
    this.values = rows.rows();
    this.blocks = blocks;
    int count = fronts.length;
    int root = fronts[count - 1];
    base = analysis.firstPivot(fronts[0]);
    number = new int[analysis.firstPivot(root) + analysis.fp(root) - base];
    Arrays.fill(number, -1);
    tail = tail(root);
    shape = numbered();
    start = new int[count + 1];
    int all = 0;
    int entries = 0;
    for (int k = 0; k < count; k++) {
      start[k] = all;
      all += rows.count(fronts[k]) + blocks.get(k).size();
      for (int i = 0; i < rows.count(fronts[k]); i++) {
        int row = rows.at(rows.first(fronts[k]) + i);
        entries += values.rowStart()[row + 1] - values.rowStart()[row];
      }
      for (ContributionBlock b : blocks.get(k)) {
        entries = Math.addExact(entries, b.cn());
      }
    }
    start[count] = all;
    columnStart = new int[all + 1];
    column = new int[entries];
    source = new int[all];
    block = blocks.stream().flatMap(List::stream).toArray(ContributionBlock[]::new);
    fill();
  }

  private int[] tail(int front) {
    int fp = analysis.fp(front);
    int[] columns = new int[analysis.cn(front)];
    for (int j = 0; j < columns.length; j++) {
      columns[j] = analysis.column(front, fp + j);
    }
    return columns;
  }

  private GramShape numbered() {
    int count = fronts.length;
    int[] pivotStart = new int[count + 1];
    int[] tailStart = new int[count + 1];
    for (int k = 0; k < count; k++) {
      int f = fronts[k];
      pivotStart[k + 1] = pivotStart[k] + analysis.fp(f);
      tailStart[k + 1] = Math.addExact(tailStart[k], analysis.cn(f));
      for (int j = 0; j < analysis.fp(f); j++) {
        number[analysis.firstPivot(f) - base + j] = pivotStart[k] + j;
      }
    }
    int[] parent = new int[count];
    int[] tails = new int[tailStart[count]];
    for (int k = 0; k < count; k++) {
      int above = Arrays.binarySearch(fronts, analysis.parent(fronts[k]));
      parent[k] = k == count - 1 ? -1 : above;
      int[] own = tail(fronts[k]);
      for (int j = 0; j < own.length; j++) {
        tails[tailStart[k] + j] = place(own[j], pivotStart[count]);
      }
    }
    return new GramShape(pivotStart, tailStart, tails, parent);
  }

  /** The number in the group of the column at a position. */
  private int place(int position, int pivots) {
    int k = position - base;
    if (k >= 0 && k < number.length && number[k] >= 0) {
      return number[k];
    }
    int t = Arrays.binarySearch(tail, position);
    if (t < 0) {
      throw new IllegalArgumentException("position " + position + " is not a column of the tree");
    }
    return pivots + t;
  }

  private void fill() {
    int pivots = shape.pivotStart()[fronts.length];
    int piece = 0;
    int at = 0;
    int blockAt = 0;
    for (int k = 0; k < fronts.length; k++) {
      for (int i = 0; i < rows.count(fronts[k]); i++) {
        int row = rows.at(rows.first(fronts[k]) + i);
        source[piece] = row;
        for (int e = values.rowStart()[row]; e < values.rowStart()[row + 1]; e++) {
          column[at++] = place(values.position()[e], pivots);
        }
        columnStart[++piece] = at;
      }
      for (ContributionBlock b : blocks.get(k)) {
        source[piece] = -1 - blockAt++;
        for (int position : tail(b.front())) {
          column[at++] = place(position, pivots);
        }
        columnStart[++piece] = at;
      }
    }
  }

  GramShape shape() {
    return shape;
  }

  @Override
  public int count() {
    return source.length;
  }

  @Override
  public int start(int k) {
    return start[k];
  }

  @Override
  public void piece(int p, RowPiece view) {
    view.columnsAt(column, columnStart[p]);
    int row = source[p];
    if (row >= 0) {
      view.size(1, columnStart[p + 1] - columnStart[p]);
      view.valuesAt(values.value(), values.rowStart()[row]);
      view.rhsAt(values.rhs(), row * values.rhsCount());
    } else {
      ContributionBlock b = block[-1 - row];
      view.size(b.cm(), b.cn()).valuesAt(b.values(), 0).rhsAt(b.rhs(), 0);
    }
  }
}
