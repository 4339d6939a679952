/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.dependence;

import java.util.Arrays;
import java.util.List;

/** Connected components of sparse vectors: two with entries in one column are connected. */
final class Components {

  private Components() {}

  /**
   * The numbers of the vectors of each component, ascending. Union-find: nearly O(nonzeros).
   *
   * @param n number of columns
   */
  static List<int[]> of(List<SparseVector> vectors, int n) {
    int[] parent = new int[vectors.size()];
    Arrays.setAll(parent, k -> k);
    int[] first = new int[n];
    Arrays.fill(first, -1);
    for (int k = 0; k < parent.length; k++) {
      for (int j : vectors.get(k).column()) {
        if (first[j] < 0) {
          first[j] = k;
        } else {
          int a = root(parent, first[j]);
          int b = root(parent, k);
          // The lower number is the root.
          parent[Math.max(a, b)] = Math.min(a, b);
        }
      }
    }
    int[] size = new int[parent.length];
    for (int k = 0; k < parent.length; k++) {
      size[root(parent, k)]++;
    }
    int[][] members = new int[parent.length][];
    for (int k = 0; k < parent.length; k++) {
      int r = root(parent, k);
      members[r] = members[r] == null ? new int[size[r]] : members[r];
      members[r][members[r].length - size[r]--] = k;
    }
    return Arrays.stream(members).filter(m -> m != null).toList();
  }

  private static int root(int[] parent, int k) {
    int at = k;
    while (parent[at] != at) {
      parent[at] = parent[parent[at]];
      at = parent[at];
    }
    return at;
  }
}
