/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.gram;

import java.util.Arrays;

/**
 * The rows of one front of a tree: its own, and what rows of thin children have in its columns,
 * whose products are summed here and not in fronts of the children.
 */
final class GramRows implements RowPieces {

  private final RowPieces all;
  private final int own;
  private final int from;

  /** By thin child: its first piece, where it is in the list, its last pivot. */
  private final int[] childFrom;

  private final int[] begin;
  private final int[] pivotEnd;

  GramRows(RowPieces all, GramShape shape, int k, int[] thin) {
    this.all = all;
    from = all.start(k);
    own = all.start(k + 1) - from;
    childFrom = new int[thin.length];
    begin = new int[thin.length + 1];
    pivotEnd = new int[thin.length];
    begin[0] = own;
    for (int c = 0; c < thin.length; c++) {
      childFrom[c] = all.start(thin[c]);
      begin[c + 1] = begin[c] + all.start(thin[c] + 1) - childFrom[c];
      pivotEnd[c] = shape.pivotStart()[thin[c] + 1];
    }
  }

  @Override
  public int count() {
    return begin[pivotEnd.length];
  }

  @Override
  public void piece(int p, RowPiece view) {
    if (p < own) {
      all.piece(from + p, view);
      return;
    }
    int c = Arrays.binarySearch(begin, p);
    c = c >= 0 ? c : -c - 2;
    // Children without rows share their beginning.
    while (begin[c + 1] <= p) {
      c++;
    }
    all.piece(childFrom[c] + p - begin[c], view);
    int skip = 0;
    while (skip < view.columns && view.column[view.columnFrom + skip] < pivotEnd[c]) {
      skip++;
    }
    view.columns -= skip;
    view.columnFrom += skip;
    view.valueFrom += skip;
    view.rows = Math.min(view.rows, view.columns);
  }
}
