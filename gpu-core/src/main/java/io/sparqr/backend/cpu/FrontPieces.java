/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cpu;

import io.sparqr.numeric.ContributionBlock;
import io.sparqr.numeric.RowBlock;
import io.sparqr.numeric.assembly.FrontLayout;
import io.sparqr.numeric.gram.RowPiece;
import io.sparqr.numeric.gram.RowPieces;

/** A front's rows of A, each a piece, and its children's blocks. An int for each entry of A. */
final class FrontPieces implements RowPieces {

  private final FrontAssembly assembly;
  private final FrontLayout layout;
  private final RowBlock rows;

  /** By own row: where its columns start; the end. */
  private final int[] start;

  private final int[] column;

  FrontPieces(FrontAssembly assembly) {
    this.assembly = assembly;
    layout = assembly.layout();
    rows = assembly.rows();
    start = new int[layout.own() + 1];
    for (int i = 0; i < layout.own(); i++) {
      int row = layout.row(i);
      start[i + 1] = start[i] + rows.rowStart()[row + 1] - rows.rowStart()[row];
    }
    column = new int[start[layout.own()]];
    for (int i = 0; i < layout.own(); i++) {
      layout.places(layout.row(i), 0, column, start[i]);
    }
  }

  @Override
  public int count() {
    return layout.own() + layout.children();
  }

  @Override
  public void piece(int p, RowPiece view) {
    if (p < layout.own()) {
      int row = layout.row(p);
      view.size(1, start[p + 1] - start[p]).columnsAt(column, start[p]);
      view.valuesAt(rows.value(), rows.rowStart()[row]);
      view.rhsAt(rows.rhs(), row * rows.rhsCount());
      return;
    }
    int c = p - layout.own();
    ContributionBlock block = assembly.block(c);
    view.size(block.cm(), block.cn()).columnsAt(layout.columns(), layout.columnStart(c));
    view.valuesAt(block.values(), 0).rhsAt(block.rhs(), 0);
  }
}
