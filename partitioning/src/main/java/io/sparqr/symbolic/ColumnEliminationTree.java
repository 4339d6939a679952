/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import io.sparqr.threads.ParallelLoop;

/**
 * The column elimination tree: parent(i) = min { j &gt; i : r_ij != 0 } in the structure of the
 * Cholesky factor of A'A, found from A's star graph with path compression (Liu 1990, section 3;
 * Gilbert, Li, Ng and Peyton 2001), and a postorder of it.
 *
 * <p>Labels are places in the column order; post numbers are places in the postorder. O(nnz(A) log
 * n), in practice linear; no recursion and no stack, so that paths may have any length.
 */
final class ColumnEliminationTree {

  /** Size n, by post number: post number of the parent, or -1 for a root. */
  final int[] parent;

  /** Size n; post number of a label. */
  final int[] post;

  /** Size n; label of a post number. */
  final int[] label;

  /** The tree of a star graph. */
  ColumnEliminationTree(StarGraph graph) {
    int n = graph.n;
    int[] size = new int[n];
    int[] up = parents(graph, size);
    int[] slot = new int[n];
    int rootSlot = n;
    // A node takes the last place of its subtree's block; its children's blocks fill the rest from
    // the end. Parents have larger labels, so one descending sweep serves every node.
    post = new int[n];
    label = new int[n];
    for (int j = n - 1; j >= 0; j--) {
      int end;
      if (up[j] < 0) {
        end = rootSlot;
        rootSlot -= size[j];
      } else {
        end = slot[up[j]];
        slot[up[j]] -= size[j];
      }
      post[j] = end - 1;
      label[end - 1] = j;
      slot[j] = end - 1;
    }
    parent = new int[n];
    ParallelLoop.ranges(
        n,
        (from, to) -> {
          for (int j = from; j < to; j++) {
            parent[post[j]] = up[j] < 0 ? -1 : post[up[j]];
          }
        });
  }

  /**
   * Parents by label.
   *
   * @param size size n; receives the nodes of each subtree: a node gets its parent when its own
   *     subtree is complete
   */
  private static int[] parents(StarGraph graph, int[] size) {
    int n = graph.n;
    int[] up = new int[n];
    int[] ancestor = new int[n];
    for (int j = 0; j < n; j++) {
      up[j] = -1;
      ancestor[j] = -1;
      size[j] = 1;
      for (int k = graph.lowStart[j]; k < graph.lowStart[j + 1]; k++) {
        int i = graph.low[k];
        while (i != j) {
          int above = ancestor[i];
          ancestor[i] = j;
          if (above < 0) {
            up[i] = j;
            size[j] += size[i];
            break;
          }
          i = above;
        }
      }
    }
    return up;
  }
}
