/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import java.util.Arrays;

/**
 * The division of a forest in postorder into ranges of whole subtrees, each of about a {@value
 * #PIECES}-th of the work or less, and the top: the nodes above them. What one range needs of the
 * forest below the top, no other does, so that ranges may be worked on in parallel. The division
 * depends on the forest alone. O(nodes).
 */
final class Subtrees {

  private static final int PIECES = 64;

  /** A range has no less than this much work, except where the shape of the forest forbids it. */
  static final long LEAST = 1 << 13;

  /** Number of ranges. */
  final int count;

  /** Size nodes; range of a node, ascending, or -1 for one of the top. */
  final int[] rangeOf;

  /** Size count; the nodes of range r are first[r] .. end[r]. */
  final int[] first;

  final int[] end;

  /**
   * Divides the forest.
   *
   * @param parent size nodes; larger than the node, or -1
   * @param before size nodes+1; the work of nodes 0 .. k-1 at k
   */
  Subtrees(int[] parent, int[] before) {
    this(parent, before, LEAST);
  }

  /** Divides into ranges of up to {@code least} work, however little there is in all. */
  Subtrees(int[] parent, int[] before, long least) {
    int n = parent.length;
    int[] descendant = new int[n];
    Arrays.fill(descendant, Integer.MAX_VALUE);
    for (int f = 0; f < n; f++) {
      descendant[f] = Math.min(descendant[f], f);
      if (parent[f] >= 0) {
        descendant[parent[f]] = Math.min(descendant[parent[f]], descendant[f]);
      }
    }
    long limit = Math.max(least, before[n] / PIECES);
    int[] from = new int[n];
    int[] to = new int[n];
    int ranges = 0;
    for (int f = n - 1; f >= 0; ) {
      int low = descendant[f];
      if (before[f + 1] - before[low] > limit) {
        f--;
        continue;
      }
      boolean joins =
          ranges > 0 && from[ranges - 1] == f + 1 && before[to[ranges - 1]] - before[low] <= limit;
      if (joins) {
        from[ranges - 1] = low;
      } else {
        from[ranges] = low;
        to[ranges++] = f + 1;
      }
      f = low - 1;
    }
    count = ranges;
    first = new int[count];
    end = new int[count];
    rangeOf = new int[n];
    Arrays.fill(rangeOf, -1);
    for (int r = 0; r < count; r++) {
      first[r] = from[count - 1 - r];
      end[r] = to[count - 1 - r];
      Arrays.fill(rangeOf, first[r], end[r], r);
    }
  }
}
