/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.matrix.gallery;

import io.sparqr.sparse.CsrMatrix;

/** The gallery's matrices on regular grids: nodes numbered with the last coordinate fastest. */
final class Grids {

  private Grids() {}

  /**
   * Two rows per cell on its 2^d corner nodes, values +-[0.5, 1.5): 2 (K-1)^d x K^d, as in a
   * least-squares finite element method. Full column rank with probability 1.
   */
  static CsrMatrix cells(int dimension, int size, GalleryRandom random) {
    int n = nodes(dimension, size);
    long cells = 1;
    for (int d = 0; d < dimension; d++) {
      cells *= size - 1;
    }
    int corners = 1 << dimension;
    int m = Combinatorial.size(2 * cells, "rows");
    int entries = Combinatorial.size(2 * cells * corners, "entries");
    int[] offset = new int[corners];
    for (int c = 0; c < corners; c++) {
      for (int d = 0; d < dimension; d++) {
        offset[c] = offset[c] * size + ((c >> (dimension - 1 - d)) & 1);
      }
    }
    int[] start = new int[m + 1];
    int[] index = new int[entries];
    double[] value = new double[entries];
    int at = 0;
    int row = 0;
    for (int node = 0; node < n; node++) {
      if (!inside(node, dimension, size)) {
        continue;
      }
      for (int copy = 0; copy < 2; copy++) {
        for (int c = 0; c < corners; c++) {
          index[at] = node + offset[c];
          value[at++] = random.value();
        }
        start[++row] = at;
      }
    }
    return new CsrMatrix(m, n, start, index, value);
  }

  /** Whether a cell begins at the node: no coordinate is the last one. */
  private static boolean inside(int node, int dimension, int size) {
    int rest = node;
    for (int d = 0; d < dimension; d++) {
      if (rest % size == size - 1) {
        return false;
      }
      rest /= size;
    }
    return true;
  }

  /**
   * A row (-1, 1) for every edge, those of the first coordinate first, then a row (1) for every
   * node: (3 K^2 (K-1) + K^3) x K^3. Full column rank.
   */
  static CsrMatrix gradient(int size) {
    int n = nodes(3, size);
    long edges = 3L * size * size * (size - 1);
    int m = Combinatorial.size(edges + n, "rows");
    int entries = Combinatorial.size(2 * edges + n, "entries");
    int[] start = new int[m + 1];
    int[] index = new int[entries];
    double[] value = new double[entries];
    int at = 0;
    int row = 0;
    for (int step = size * size; step >= 1; step /= size) {
      for (int node = 0; node < n; node++) {
        if (node / step % size < size - 1) {
          index[at] = node;
          value[at++] = -1;
          index[at] = node + step;
          value[at++] = 1;
          start[++row] = at;
        }
      }
    }
    for (int node = 0; node < n; node++) {
      index[at] = node;
      value[at++] = 1;
      start[++row] = at;
    }
    return new CsrMatrix(m, n, start, index, value);
  }

  private static int nodes(int dimension, int size) {
    return Combinatorial.size(Math.round(Math.pow(size, dimension)), "columns");
  }
}
