/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering.dissection;

import io.sparqr.ordering.graph.Pieces;
import io.sparqr.ordering.graph.WeightedGraph;
import io.sparqr.threads.ParallelLoop;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Separators of the uncoarsened graph from distances to peripheral vertices (George and Liu 1978,
 * level structures): the half of the weight nearest to one end, nearest to the other, or closest to
 * one relative to the other. Coarsening by random matchings blurs the metric of a mesh; distances
 * keep it. On a k^3 grid with seven-point stencil they find the hexagon of 3/4 k^2 vertices across
 * the diagonal, where multilevel refinement stops at k^2. Each candidate is refined; O(n + entries)
 * without the refinement.
 */
final class DistanceSeparators {
  /** Number of candidates of {@link #candidate}. */
  static final int CANDIDATES = 3;

  /** A level of a search with at least this many vertices is worth several threads. */
  private static final int WIDE_LEVEL = 2048;

  private static final int PIECE_OF_LEVEL = 512;

  /** Vertices that a piece finds before it appends them to the queue, which all pieces share. */
  private static final int FOUND_AT_ONCE = 256;

  private static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(int[].class);

  private int[] fromFirst = new int[0];
  private int[] fromSecond = new int[0];

  /** Size n + 1: what is written after the last vertex does not count. */
  private int[] queue = new int[0];

  /** Searches from a vertex; returns false if that does not find the whole graph. */
  boolean connected(WeightedGraph g, int from) {
    reserve(g.n);
    return search(g, from, fromFirst) == g.n;
  }

  /**
   * Takes the distances from two ends of a graph found {@link #connected}: the vertex farthest from
   * the start of that search, and the one farthest from this.
   */
  void measure(WeightedGraph g) {
    search(g, farthest(g, fromFirst), fromFirst);
    search(g, farthest(g, fromFirst), fromSecond);
  }

  /** The lowest vertex of the last level of a search: the same in whatever order it was found. */
  private int farthest(WeightedGraph g, int[] distance) {
    int last = g.n - 1;
    int v = queue[last];
    for (int i = last - 1; i >= 0 && distance[queue[i]] == distance[queue[last]]; i--) {
      v = Math.min(v, queue[i]);
    }
    return v;
  }

  private void reserve(int n) {
    if (queue.length <= n) {
      fromFirst = new int[n];
      fromSecond = new int[n];
      queue = new int[n + 1];
    }
  }

  /**
   * Writes a candidate into a state. Several threads may call it at once after the distances are
   * taken.
   *
   * @param which 0: nearest to the first end, 1: to the second, 2: by the difference
   * @param heaviest a heavier candidate is not worth refining
   * @param state bound to g
   * @return false, with the state undefined, if it is not worth refining
   */
  boolean candidate(WeightedGraph g, int which, long heaviest, SeparatorState state) {
    int[] plus = which == 1 ? fromSecond : fromFirst;
    int[] minus = which == 2 ? fromSecond : null;
    int lowest = Integer.MAX_VALUE;
    int highest = Integer.MIN_VALUE;
    int[] part = state.part;
    for (int v = 0; v < g.n; v++) {
      int d = minus == null ? plus[v] : plus[v] - minus[v];
      part[v] = d;
      lowest = Math.min(lowest, d);
      highest = Math.max(highest, d);
    }
    int cut = medianKey(g, part, lowest, highest);
    for (int v = 0; v < g.n; v++) {
      part[v] = part[v] < cut ? 0 : 1;
    }
    // along an edge a distance changes by one at most, a difference of two distances by two
    int reach = minus == null ? 1 : 2;
    long weight = 0;
    for (int v = 0; v < g.n; v++) {
      if (part[v] != 0 || plus[v] - (minus == null ? 0 : minus[v]) < cut - reach) {
        continue;
      }
      for (int e = g.start[v]; e < g.start[v + 1]; e++) {
        int u = g.neighbor[e];
        if (part[u] == 1) {
          part[u] = SeparatorState.SEPARATOR;
          weight += g.vertexWeight[u];
        }
      }
    }
    if (weight > heaviest) {
      return false;
    }
    state.recompute();
    return true;
  }

  /** The key at which the weight below it comes nearest to half. */
  private static int medianKey(WeightedGraph g, int[] key, int lowest, int highest) {
    int[] weight = new int[highest - lowest + 1];
    for (int v = 0; v < g.n; v++) {
      weight[key[v] - lowest] += g.vertexWeight[v];
    }
    int below = 0;
    int cut = 0;
    while (below + weight[cut] / 2 < g.totalWeight / 2) {
      below += weight[cut++];
    }
    return lowest + cut;
  }

  /**
   * Breadth-first search, wide levels in pieces side by side; leaves the vertices found in the
   * queue, level by level, and returns their number. Within a level their order may differ from run
   * to run; distances do not.
   */
  private int search(WeightedGraph g, int from, int[] distance) {
    Arrays.fill(distance, 0, g.n, -1);
    queue[0] = from;
    distance[from] = 0;
    int first = 0;
    int end = 1;
    while (first < end) {
      int next = distance[queue[first]] + 1;
      int tail =
          end - first < WIDE_LEVEL
              ? expand(g, first, end, next, distance)
              : expandInPieces(g, first, end, next, distance);
      first = end;
      end = tail;
    }
    return end;
  }

  /** Appends the next level to the queue; returns its end. */
  private int expand(WeightedGraph g, int first, int end, int next, int[] distance) {
    int[] found = queue;
    int[] neighbor = g.neighbor;
    int tail = end;
    for (int head = first; head < end; head++) {
      int v = found[head];
      int rowEnd = g.start[v + 1];
      for (int e = g.start[v]; e < rowEnd; e++) {
        // without a branch, which would be taken at random: u stays in the queue if it is new
        int u = neighbor[e];
        int known = distance[u];
        int isNew = known >> 31;
        found[tail] = u;
        tail -= isNew;
        distance[u] = (next & isNew) | (known & ~isNew);
      }
    }
    return tail;
  }

  private int expandInPieces(WeightedGraph g, int first, int end, int next, int[] distance) {
    int pieces = (end - first) / PIECE_OF_LEVEL;
    AtomicInteger tail = new AtomicInteger(end);
    ParallelLoop.run(
        pieces,
        p -> {
          int pieceEnd = first + Pieces.first(p + 1, pieces, end - first);
          int begin = first + Pieces.first(p, pieces, end - first);
          int[] mine = new int[FOUND_AT_ONCE];
          int count = 0;
          for (int head = begin; head < pieceEnd; head++) {
            int v = queue[head];
            for (int e = g.start[v]; e < g.start[v + 1]; e++) {
              int u = g.neighbor[e];
              if (distance[u] < 0 && ELEMENT.compareAndSet(distance, u, -1, next)) {
                mine[count++] = u;
                if (count == FOUND_AT_ONCE) {
                  System.arraycopy(mine, 0, queue, tail.getAndAdd(count), count);
                  count = 0;
                }
              }
            }
          }
          System.arraycopy(mine, 0, queue, tail.getAndAdd(count), count);
        });
    return tail.get();
  }
}
