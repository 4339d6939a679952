/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import io.sparqr.sparse.SparsityPattern;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** The structure of R by brute force: A'A as a dense pattern, eliminated column by column. */
final class StructureOracle {

  /** r[i][j], j >= i: whether position (i, j) of the Cholesky factor of (AP)'(AP) fills. */
  final boolean[][] r;

  private StructureOracle(boolean[][] r) {
    this.r = r;
  }

  /** The factor's structure for the rows whose least position is at least {@code from}. */
  static StructureOracle of(SparsityPattern a, int[] position, int from) {
    int n = a.columns();
    boolean[][] g = new boolean[n][n];
    for (int p = 0; p < a.patterns(); p++) {
      List<Integer> row = row(a, p, position);
      if (row.isEmpty() || row.get(0) < from) {
        continue;
      }
      for (int i : row) {
        for (int j : row) {
          g[i][j] = true;
        }
      }
    }
    for (int k = 0; k < n; k++) {
      g[k][k] = true;
      for (int i = k + 1; i < n; i++) {
        for (int j = k + 1; g[k][i] && j < n; j++) {
          g[i][j] |= g[k][j];
        }
      }
    }
    return new StructureOracle(g);
  }

  /** Positions of a row pattern, ascending. */
  static List<Integer> row(SparsityPattern a, int p, int[] position) {
    List<Integer> row = new ArrayList<>();
    for (long k = a.rowStart()[p]; k < a.rowStart()[p + 1]; k++) {
      row.add(position[a.columnIndex()[(int) k]]);
    }
    Collections.sort(row);
    return row;
  }

  /** Columns beyond the diagonal in row i. */
  List<Integer> beyond(int i) {
    List<Integer> list = new ArrayList<>();
    for (int j = i + 1; j < r.length; j++) {
      if (r[i][j]) {
        list.add(j);
      }
    }
    return list;
  }

  /** Parent in the elimination tree, or -1. */
  int parent(int i) {
    List<Integer> list = beyond(i);
    return list.isEmpty() ? -1 : list.get(0);
  }
}
