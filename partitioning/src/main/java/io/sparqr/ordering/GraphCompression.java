/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering;

import java.util.Arrays;

/**
 * Vertices with the same closed neighbourhood merged into one, weighted by their number: they can
 * be eliminated one after another without further fill (Ashcraft 1995; METIS does the same). O(n +
 * entries) expected.
 */
final class GraphCompression {
  private final WeightedGraph compressed;
  private final int[] groupStart;
  private final int[] groupMember;

  private GraphCompression(WeightedGraph compressed, int[] groupStart, int[] groupMember) {
    this.compressed = compressed;
    this.groupStart = groupStart;
    this.groupMember = groupMember;
  }

  /** The graph of the groups; the input itself where nothing merged. */
  WeightedGraph compressed() {
    return compressed;
  }

  /** Writes the members of a group to {@code target} from {@code at}; returns the end. */
  int copyGroup(int group, int[] target, int at) {
    int size = groupStart[group + 1] - groupStart[group];
    System.arraycopy(groupMember, groupStart[group], target, at, size);
    return at + size;
  }

  static GraphCompression of(WeightedGraph g) {
    int n = g.n;
    int[] group = new int[n];
    int groups = findGroups(g, group);
    int[] start = new int[groups + 1];
    for (int v = 0; v < n; v++) {
      start[group[v] + 1]++;
    }
    for (int c = 0; c < groups; c++) {
      start[c + 1] += start[c];
    }
    int[] next = start.clone();
    int[] member = new int[n];
    for (int v = 0; v < n; v++) {
      member[next[group[v]]++] = v;
    }
    return new GraphCompression(
        groups == n ? g : contract(g, group, groups, start, member), start, member);
  }

  /** Numbers the groups by their first vertices. */
  private static int findGroups(WeightedGraph g, int[] group) {
    int n = g.n;
    int mask = Integer.highestOneBit(Math.max(8, n)) * 4 - 1;
    int[] table = new int[mask + 1];
    int[] mark = new int[n];
    Arrays.fill(table, -1);
    Arrays.fill(mark, -1);
    long[] hash = new long[n];
    int pieces = Pieces.of(n, (long) n + g.entries());
    ParallelLoop.run(pieces, p -> hash(g, p, pieces, hash));
    int groups = 0;
    for (int v = 0; v < n; v++) {
      long h = hash[v];
      int at = (int) (h ^ (h >>> 32)) & mask;
      while (table[at] >= 0 && !same(g, table[at], v, hash, mark)) {
        at = (at + 1) & mask;
      }
      if (table[at] < 0) {
        table[at] = v;
        group[v] = groups++;
      } else {
        group[v] = group[table[at]];
      }
    }
    return groups;
  }

  /** Hashes the closed neighbourhoods of a piece's vertices. */
  private static void hash(WeightedGraph g, int piece, int pieces, long[] hash) {
    int end = Pieces.first(piece + 1, pieces, g.n);
    for (int v = Pieces.first(piece, pieces, g.n); v < end; v++) {
      long h = scramble(v);
      for (int e = g.start[v]; e < g.start[v + 1]; e++) {
        h += scramble(g.neighbor[e]);
      }
      hash[v] = h;
    }
  }

  private static boolean same(WeightedGraph g, int first, int v, long[] hash, int[] mark) {
    if (hash[first] != hash[v] || g.degree(first) != g.degree(v)) {
      return false;
    }
    for (int e = g.start[first]; e < g.start[first + 1]; e++) {
      mark[g.neighbor[e]] = v;
    }
    mark[first] = v;
    if (mark[v] != v) {
      return false;
    }
    for (int e = g.start[v]; e < g.start[v + 1]; e++) {
      if (mark[g.neighbor[e]] != v) {
        return false;
      }
    }
    return true;
  }

  private static long scramble(int v) {
    long z = (v + 1) * 0x9E3779B97F4A7C15L;
    z = (z ^ (z >>> 29)) * 0xBF58476D1CE4E5B9L;
    return z ^ (z >>> 32);
  }

  private static WeightedGraph contract(
      WeightedGraph g, int[] group, int groups, int[] groupStart, int[] member) {
    int entries = 0;
    int[] seen = new int[groups];
    Arrays.fill(seen, -1);
    for (int c = 0; c < groups; c++) {
      entries += g.degree(member[groupStart[c]]);
    }
    int[] start = new int[groups + 1];
    int[] neighbor = new int[entries];
    int[] edgeWeight = new int[entries];
    int[] vertexWeight = new int[groups];
    int end = 0;
    for (int c = 0; c < groups; c++) {
      int v = member[groupStart[c]];
      int size = groupStart[c + 1] - groupStart[c];
      for (int m = groupStart[c]; m < groupStart[c + 1]; m++) {
        vertexWeight[c] += g.vertexWeight[member[m]];
      }
      seen[c] = c;
      for (int e = g.start[v]; e < g.start[v + 1]; e++) {
        int k = group[g.neighbor[e]];
        if (seen[k] != c) {
          seen[k] = c;
          neighbor[end] = k;
          long weight = (long) g.edgeWeight[e] * size * (groupStart[k + 1] - groupStart[k]);
          edgeWeight[end++] = (int) Math.min(weight, 1 << 16);
        }
      }
      start[c + 1] = end;
    }
    return new WeightedGraph(
        groups, start, Arrays.copyOf(neighbor, end), Arrays.copyOf(edgeWeight, end), vertexWeight);
  }
}
