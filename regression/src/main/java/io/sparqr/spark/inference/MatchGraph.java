/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.inference;

import java.util.Arrays;
import java.util.BitSet;
import java.util.List;

/**
 * The graph of workers and firms with one edge per match. Nodes are the workers, 0 .. workers-1,
 * then the firms; dropped ones are marked. Without recursion, because a path may include all nodes.
 */
final class MatchGraph {

  private final int workers;
  private final int nodes;

  /** Edges of a node: [start, start of the next node). */
  private final int[] start;

  private final int[] neighbour;

  /** Number of observations of an edge. */
  private final long[] times;

  private final BitSet in;

  /**
   * @param parts arrays with worker and firm in the halves of a long, followed by as many counts; a
   *     match may occur in several
   */
  MatchGraph(List<long[]> parts) {
    int most = 0;
    int firms = 0;
    long edges = 0;
    for (long[] part : parts) {
      for (int i = 0; i < part.length / 2; i++) {
        most = Math.max(most, (int) (part[i] >>> 32) + 1);
        firms = Math.max(firms, (int) part[i] + 1);
      }
      edges += part.length / 2;
    }
    workers = most;
    nodes = Math.addExact(most, firms);
    start = new int[nodes + 1];
    int size = Math.toIntExact(2 * edges);
    neighbour = new int[size];
    times = new long[size];
    in = new BitSet(nodes);
    fill(parts);
  }

  private void fill(List<long[]> parts) {
    for (long[] part : parts) {
      for (int i = 0; i < part.length / 2; i++) {
        start[(int) (part[i] >>> 32) + 1]++;
        start[workers + (int) part[i] + 1]++;
      }
    }
    for (int v = 0; v < nodes; v++) {
      start[v + 1] += start[v];
    }
    int[] next = Arrays.copyOf(start, nodes);
    for (long[] part : parts) {
      int count = part.length / 2;
      for (int i = 0; i < count; i++) {
        int w = (int) (part[i] >>> 32);
        int f = workers + (int) part[i];
        times[next[w]] = part[count + i];
        neighbour[next[w]++] = f;
        times[next[f]] = part[count + i];
        neighbour[next[f]++] = w;
        in.set(w);
        in.set(f);
      }
    }
  }

  /** Drops everything except the component with the most firms, or the first such component. */
  void keepMostFirms() {
    int[] component = new int[nodes];
    int[] stack = new int[nodes];
    int count = 0;
    int best = 0;
    int bestFirms = 0;
    for (int root = in.nextSetBit(0); root >= 0; root = in.nextSetBit(root + 1)) {
      if (component[root] > 0) {
        continue;
      }
      count++;
      int firms = 0;
      int top = 0;
      stack[top++] = root;
      component[root] = count;
      while (top > 0) {
        int v = stack[--top];
        firms += v >= workers ? 1 : 0;
        for (int e = start[v]; e < start[v + 1]; e++) {
          int u = neighbour[e];
          if (in.get(u) && component[u] == 0) {
            component[u] = count;
            stack[top++] = u;
          }
        }
      }
      if (firms > bestFirms) {
        bestFirms = firms;
        best = count;
      }
    }
    for (int v = 0; v < nodes; v++) {
      if (component[v] != best) {
        in.clear(v);
      }
    }
  }

  /**
   * Drops the workers without whom the remaining graph would fall apart.
   *
   * @return whether there was one
   */
  boolean dropArticulationWorkers() {
    var articulation = new BitSet(workers);
    int[] number = new int[nodes];
    int[] low = new int[nodes];
    int[] parent = new int[nodes];
    int[] next = Arrays.copyOf(start, nodes);
    int seen = 0;
    for (int root = in.nextSetBit(0); root >= 0; root = in.nextSetBit(root + 1)) {
      if (number[root] > 0) {
        continue;
      }
      int children = 0;
      parent[root] = -1;
      number[root] = ++seen;
      low[root] = seen;
      int v = root;
      while (v >= 0) {
        if (next[v] < start[v + 1]) {
          int u = neighbour[next[v]++];
          if (!in.get(u) || u == parent[v]) {
            continue;
          }
          if (number[u] > 0) {
            low[v] = Math.min(low[v], number[u]);
          } else {
            parent[u] = v;
            number[u] = ++seen;
            low[u] = seen;
            children += v == root ? 1 : 0;
            v = u;
          }
          continue;
        }
        int p = parent[v];
        if (p >= 0) {
          low[p] = Math.min(low[p], low[v]);
          if (p != root && p < workers && low[v] >= number[p]) {
            articulation.set(p);
          }
        }
        v = p;
      }
      if (root < workers && children > 1) {
        articulation.set(root);
      }
    }
    in.andNot(articulation);
    return !articulation.isEmpty();
  }

  /** Drops workers with one observation. */
  void dropSingleObservations() {
    for (int w = in.nextSetBit(0); w >= 0 && w < workers; w = in.nextSetBit(w + 1)) {
      if (observations(w) == 1) {
        in.clear(w);
      }
    }
  }

  private long observations(int worker) {
    long sum = 0;
    for (int e = start[worker]; e < start[worker + 1]; e++) {
      sum += in.get(neighbour[e]) ? times[e] : 0;
    }
    return sum;
  }

  /** Number of observations of all remaining workers. */
  long observations() {
    long sum = 0;
    for (int w = in.nextSetBit(0); w >= 0 && w < workers; w = in.nextSetBit(w + 1)) {
      sum += observations(w);
    }
    return sum;
  }

  /** The remaining workers. */
  BitSet workers() {
    return in.get(0, workers);
  }

  /** The remaining firms. */
  BitSet firms() {
    return in.get(workers, nodes);
  }
}
