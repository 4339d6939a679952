/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering.graph;

import io.sparqr.threads.ParallelLoop;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Vertices with the same closed neighbourhood merged into one, weighted by their number: they can
 * be eliminated one after another without further fill (Ashcraft 1995; METIS does the same). O(n +
 * entries) expected.
 */
public final class GraphCompression {
  private final WeightedGraph compressed;

  /** Null if nothing merged: then each vertex is a group of its own. */
  private final @Nullable Groups groups;

  /**
   * The members of group c are member[start[c]] .. member[start[c+1]-1].
   *
   * @param start size groups+1
   * @param member size n
   */
  private record Groups(int[] start, int[] member) {}

  private GraphCompression(WeightedGraph compressed, @Nullable Groups groups) {
    this.compressed = compressed;
    this.groups = groups;
  }

  /** The graph of the groups; the input itself where nothing merged. */
  public WeightedGraph compressed() {
    return compressed;
  }

  /** Writes the members of a group to {@code target} from {@code at}; returns the end. */
  public int copyGroup(int group, int[] target, int at) {
    if (groups == null) {
      target[at] = group;
      return at + 1;
    }
    int[] start = groups.start;
    int size = start[group + 1] - start[group];
    System.arraycopy(groups.member, start[group], target, at, size);
    return at + size;
  }

  /** The compression of a graph. Cost O(n + edges). */
  public static GraphCompression of(WeightedGraph g) {
    int n = g.n;
    int[] group = new int[n];
    int groups = findGroups(g, group);
    if (groups == n) {
      return new GraphCompression(g, null);
    }
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
        contract(g, group, groups, start, member), new Groups(start, member));
  }

  /**
   * Numbers the groups by their first vertices. Only vertices whose hash value may occur again are
   * looked up, since this is the part for one thread.
   */
  private static int findGroups(WeightedGraph g, int[] group) {
    int n = g.n;
    long[] hash = new long[n];
    boolean[] alone = new boolean[n];
    int candidates = n - findAlone(g, hash, alone);
    int mask = Integer.highestOneBit(Math.max(8, candidates)) * 4 - 1;
    int[] table = new int[mask + 1];
    int[] mark = new int[candidates == 0 ? 0 : n];
    Arrays.fill(table, -1);
    Arrays.fill(mark, -1);
    int groups = 0;
    for (int v = 0; v < n; v++) {
      if (alone[v]) {
        group[v] = groups++;
        continue;
      }
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

  /**
   * Hashes the closed neighbourhoods and finds vertices whose value is that of no other.
   *
   * @return how many are found
   */
  private static int findAlone(WeightedGraph g, long[] hash, boolean[] alone) {
    int pieces = Pieces.of(g.n, (long) g.n + g.entries());
    RepeatedHashes hashes = new RepeatedHashes(g.n);
    ParallelLoop.run(pieces, p -> hash(g, p, pieces, hash, hashes));
    int[] found = new int[pieces];
    ParallelLoop.run(
        pieces,
        p -> {
          int end = Pieces.first(p + 1, pieces, g.n);
          int count = 0;
          for (int v = Pieces.first(p, pieces, g.n); v < end; v++) {
            alone[v] = !hashes.mayRepeat(hash[v]);
            count += alone[v] ? 1 : 0;
          }
          found[p] = count;
        });
    return Arrays.stream(found).sum();
  }

  /** Hashes the closed neighbourhoods of a piece's vertices. */
  private static void hash(
      WeightedGraph g, int piece, int pieces, long[] hash, RepeatedHashes hashes) {
    int end = Pieces.first(piece + 1, pieces, g.n);
    for (int v = Pieces.first(piece, pieces, g.n); v < end; v++) {
      long h = scramble(v);
      for (int e = g.start[v]; e < g.start[v + 1]; e++) {
        h += scramble(g.neighbor[e]);
      }
      hash[v] = h;
      hashes.add(h);
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
