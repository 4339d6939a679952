/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import java.util.Arrays;

/**
 * The tree of fronts in its final postorder with the sizes fp, cn, fm, cm of every front.
 *
 * <p>fm(f) = rows of A whose leftmost column is a pivot of f + sum over children c of cm(c); cm(f)
 * = min(max(fm - fp, 0), cn). The children of each front are ordered by descending peak(c) -
 * block(c), which makes the postorder with the least peak memory (Liu 1986), where peak(f) = max
 * over the children in order of (blocks of those before it + its peak), and all blocks + the front.
 */
final class FrontTree implements GramTree.Fronts {

  /** The number of fronts, nf. */
  final int count;

  /** Size nf; the parent of each front, -1 for a root. */
  final int[] parent;

  /** Size nf+1; running sum of the pivot columns, from 0. */
  final int[] pivotStart;

  /** Size nf; the number of non-pivot columns of each front. */
  final int[] cn;

  /** Size nf; the number of rows of each front. */
  final long[] fm;

  /** Size nf; the number of rows of each contribution block. */
  final long[] cm;

  /** Size n2; final place of a post number, from 0 (singletons not counted). */
  final int[] place;

  /** Size n2; front of a final place. */
  final int[] frontOfPlace;

  /**
   * Sizes and order.
   *
   * @param leftmostCount size n2, by post number
   */
  FrontTree(Supernodes groups, long[] leftmostCount, int rhs) {
    count = groups.count;
    long[] rows = new long[count];
    long[] blocks = new long[count];
    for (int j = 0; j < leftmostCount.length; j++) {
      int g = groups.groupOf[j];
      rows[g] = Math.addExact(rows[g], leftmostCount[j]);
    }
    for (int g = 0; g < count; g++) {
      blocks[g] = Math.min(Math.max(rows[g] - groups.pivots[g], 0), groups.tail[g]);
      if (groups.parent[g] >= 0) {
        rows[groups.parent[g]] = Math.addExact(rows[groups.parent[g]], blocks[g]);
      }
    }
    int[] childStart = new int[count + 2];
    int[] child = children(groups.parent, childStart);
    orderChildren(groups, rows, blocks, childStart, child, rhs);
    int[] front = postorder(groups.parent, childStart, child);

    parent = new int[count];
    pivotStart = new int[count + 1];
    cn = new int[count];
    fm = new long[count];
    cm = new long[count];
    for (int g = 0; g < count; g++) {
      int f = front[g];
      parent[f] = groups.parent[g] < 0 ? -1 : front[groups.parent[g]];
      pivotStart[f + 1] = groups.pivots[g];
      cn[f] = groups.tail[g];
      fm[f] = rows[g];
      cm[f] = blocks[g];
    }
    for (int f = 0; f < count; f++) {
      pivotStart[f + 1] += pivotStart[f];
    }
    int n = leftmostCount.length;
    place = new int[n];
    frontOfPlace = new int[n];
    int[] next = Arrays.copyOf(pivotStart, count);
    for (int j = 0; j < n; j++) {
      int f = front[groups.groupOf[j]];
      place[j] = next[f]++;
      frontOfPlace[place[j]] = f;
    }
  }

  @Override
  public int count() {
    return count;
  }

  @Override
  public int parent(int f) {
    return parent[f];
  }

  @Override
  public int pivots(int f) {
    return pivotStart[f + 1] - pivotStart[f];
  }

  @Override
  public int tail(int f) {
    return cn[f];
  }

  @Override
  public double block(int f) {
    return cm[f];
  }

  /** Children of 0 .. count-1 and, under the number count, the roots; fills childStart. */
  private static int[] children(int[] parent, int[] childStart) {
    int count = parent.length;
    for (int p : parent) {
      childStart[(p < 0 ? count : p) + 1]++;
    }
    for (int g = 0; g <= count; g++) {
      childStart[g + 1] += childStart[g];
    }
    int[] child = new int[count];
    int[] next = Arrays.copyOf(childStart, count + 1);
    for (int g = 0; g < count; g++) {
      child[next[parent[g] < 0 ? count : parent[g]]++] = g;
    }
    return child;
  }

  /** Sorts each list of children. */
  private static void orderChildren(
      Supernodes groups, long[] rows, long[] blocks, int[] childStart, int[] child, int rhs) {
    int count = groups.count;
    long[] peak = new long[count + 1];
    long[] block = new long[count];
    long[] keys = new long[count];
    for (int g = 0; g <= count; g++) {
      int from = childStart[g];
      int to = childStart[g + 1];
      for (int k = from; k < to; k++) {
        // Descending by a float's bits (monotonic for values >= 0), ties by number: one sort of
        // primitives serves a star of a million children.
        int c = child[k];
        float gain = (float) (peak[c] - block[c]);
        keys[k] = ((long) (Integer.MAX_VALUE - Float.floatToIntBits(gain)) << 32) | c;
      }
      if (to - from > 1) {
        Arrays.sort(keys, from, to);
      }
      long held = 0;
      long most = 0;
      for (int k = from; k < to; k++) {
        int c = (int) keys[k];
        child[k] = c;
        most = Math.max(most, FrontMemory.add(held, peak[c]));
        held = FrontMemory.add(held, block[c]);
      }
      if (g < count) {
        long fn = (long) groups.pivots[g] + groups.tail[g];
        block[g] = FrontMemory.contributionBytes(blocks[g], groups.tail[g], rhs);
        long own = FrontMemory.frontBytes(rows[g], fn, rhs);
        most = Math.max(most, FrontMemory.add(held, own));
      }
      peak[g] = most;
    }
  }

  /** Final number of each group; parents are handled before children, no stack needed. */
  private static int[] postorder(int[] parent, int[] childStart, int[] child) {
    int count = parent.length;
    int[] size = new int[count + 1];
    for (int g = 0; g < count; g++) {
      size[g]++;
      size[parent[g] < 0 ? count : parent[g]] += size[g];
    }
    int[] number = new int[count + 1];
    number[count] = count;
    for (int g = count; g >= 0; g--) {
      int end = number[g];
      for (int k = childStart[g + 1] - 1; k >= childStart[g]; k--) {
        int c = child[k];
        number[c] = end - 1;
        end -= size[c];
      }
    }
    return number;
  }
}
