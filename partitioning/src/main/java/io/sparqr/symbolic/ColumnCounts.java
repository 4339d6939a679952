/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

/**
 * Row counts of R (column counts of the Cholesky factor of A'A), from A alone: count(j) = |{ k :
 * r_jk != 0 }|, the diagonal included. Skeleton edges of the star graph are found in postorder by
 * first descendants; least common ancestors by disjoint sets with path halving (Gilbert, Ng and
 * Peyton 1994, figure 3; for A'A Gilbert, Li, Ng and Peyton 2001). O(nnz(A) log n), in practice
 * linear.
 */
final class ColumnCounts {

  private ColumnCounts() {}

  /** Counts by post number, size n. */
  static int[] of(StarGraph graph, ColumnEliminationTree tree) {
    int n = graph.n;
    int[] parent = tree.parent;
    int[] firstDescendant = new int[n];
    int[] weight = new int[n];
    int[] set = new int[n];
    for (int j = 0; j < n; j++) {
      firstDescendant[j] = n;
      weight[j] = 1;
      set[j] = j;
    }
    for (int j = 0; j < n; j++) {
      firstDescendant[j] = Math.min(firstDescendant[j], j);
      int p = parent[j];
      if (p >= 0) {
        firstDescendant[p] = Math.min(firstDescendant[p], firstDescendant[j]);
        weight[p] = 0;
      }
    }
    // lastNeighbour and lastLeaf hold post number + 1; 0 is "none yet".
    int[] lastNeighbour = new int[n];
    int[] lastLeaf = new int[n];
    for (int k = 0; k < n; k++) {
      int j = tree.label[k];
      int p = parent[k];
      if (p >= 0) {
        weight[p]--;
      }
      int first = firstDescendant[k] + 1;
      for (int e = graph.highStart[j]; e < graph.highStart[j + 1]; e++) {
        int u = tree.post[graph.high[e]];
        if (first > lastNeighbour[u]) {
          weight[k]++;
          int leaf = lastLeaf[u] - 1;
          if (leaf >= 0) {
            weight[find(set, leaf)]--;
          }
          lastLeaf[u] = k + 1;
        }
        lastNeighbour[u] = k + 1;
      }
      if (p >= 0) {
        set[k] = p;
      }
    }
    for (int k = 0; k < n; k++) {
      if (parent[k] >= 0) {
        weight[parent[k]] += weight[k];
      }
    }
    return weight;
  }

  private static int find(int[] set, int start) {
    int k = start;
    while (set[k] != k) {
      set[k] = set[set[k]];
      k = set[k];
    }
    return k;
  }
}
