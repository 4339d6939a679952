/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering.graph;

import io.sparqr.threads.ParallelLoop;

/**
 * An undirected graph with weights on vertices and edges, in compressed adjacency: the neighbours
 * of v are {@code neighbor[start[v] .. start[v+1])}, no self loops, each edge stored from both
 * ends. Arrays may be longer than needed; they are not modified after construction.
 */
public final class WeightedGraph {
  /** Beyond this number of parts one thread extracts them all. */
  private static final int MOST_PARTS_IN_PIECES = 8;

  /** Number of vertices. */
  public final int n;

  /** Size n+1; offsets into neighbor and edgeWeight; the first need not be 0. */
  public final int[] start;

  /** Size at least start[n]; vertex indices. Graphs may share an array, each with its own range. */
  public final int[] neighbor;

  /** Size at least start[n]; positive. */
  public final int[] edgeWeight;

  /** Size at least n; positive: number of columns that the vertex stands for. */
  public final int[] vertexWeight;

  /** Sum of the vertex weights. */
  public final int totalWeight;

  /** The greatest vertex weight, at least 1. */
  public final int maxVertexWeight;

  /**
   * A graph of these arrays, which are not copied. O(n).
   *
   * @param start size n + 1
   * @param neighbor size start[n], as {@code edgeWeight}
   * @param vertexWeight size n
   */
  public WeightedGraph(int n, int[] start, int[] neighbor, int[] edgeWeight, int[] vertexWeight) {
    this.n = n;
    this.start = start;
    this.neighbor = neighbor;
    this.edgeWeight = edgeWeight;
    this.vertexWeight = vertexWeight;
    int sum = 0;
    int greatest = 1;
    for (int v = 0; v < n; v++) {
      sum += vertexWeight[v];
      greatest = Math.max(greatest, vertexWeight[v]);
    }
    this.totalWeight = sum;
    this.maxVertexWeight = greatest;
  }

  /** As above, with known sum and maximum of the weights. */
  public WeightedGraph(
      int n,
      int[] start,
      int[] neighbor,
      int[] edgeWeight,
      int[] vertexWeight,
      int totalWeight,
      int maxVertexWeight) {
    this.n = n;
    this.start = start;
    this.neighbor = neighbor;
    this.edgeWeight = edgeWeight;
    this.vertexWeight = vertexWeight;
    this.totalWeight = totalWeight;
    this.maxVertexWeight = maxVertexWeight;
  }

  /** Number of neighbours of v. */
  public int degree(int v) {
    return start[v + 1] - start[v];
  }

  /** Stored adjacency entries: twice the number of edges. */
  public int entries() {
    return start[n] - start[0];
  }

  /**
   * Splits the vertices by part and extracts the subgraph induced by each part; edges between parts
   * are dropped. O(n + entries).
   *
   * @param part size n; part of each vertex, or negative or {@code >= parts} for none
   * @param parts number of parts
   * @param local size n, written: index of a vertex within its part, by ascending vertex
   * @return the subgraphs, one per part
   */
  public WeightedGraph[] induced(int[] part, int parts, int[] local) {
    int entries = 0;
    for (int v = 0; v < n; v++) {
      entries += part[v] >= 0 && part[v] < parts ? degree(v) : 0;
    }
    return induced(part, parts, local, new int[entries], new int[entries], 0);
  }

  /**
   * As above, with given room for the adjacency.
   *
   * @param neighbors receives the neighbours of all subgraphs, from {@code room} on, as many
   *     entries as this graph has at most
   * @param edgeWeights receives the weights of their edges at the same places
   */
  public WeightedGraph[] induced(
      int[] part, int parts, int[] local, int[] neighbors, int[] edgeWeights, int room) {
    // with many parts the counts of several pieces would be large while the parts are small
    int pieces = parts > MOST_PARTS_IN_PIECES ? 1 : Pieces.of(n, (long) n + entries());
    int[][] size = new int[pieces + 1][parts];
    int[][] edges = new int[pieces + 1][parts];
    ParallelLoop.run(pieces, p -> count(p, pieces, part, local, size[p + 1], edges[p + 1]));
    for (int p = 0; p < pieces; p++) {
      for (int k = 0; k < parts; k++) {
        size[p + 1][k] += size[p][k];
        edges[p + 1][k] += edges[p][k];
      }
    }
    int at = room;
    for (int k = 0; k < parts; k++) {
      int entries = edges[pieces][k];
      for (int p = 0; p <= pieces; p++) {
        edges[p][k] += at;
      }
      at += entries;
    }
    if (pieces > 1) {
      ParallelLoop.run(pieces, p -> addFirst(p, pieces, part, local, size[p]));
    }
    WeightedGraph[] graphs = new WeightedGraph[parts];
    for (int k = 0; k < parts; k++) {
      int count = size[pieces][k];
      int[] starts = new int[count + 1];
      starts[0] = edges[0][k];
      graphs[k] = new WeightedGraph(count, starts, neighbors, edgeWeights, new int[count], 0, 1);
    }
    ParallelLoop.run(pieces, p -> extract(p, pieces, part, local, graphs, edges[p]));
    for (int k = 0; k < parts; k++) {
      WeightedGraph g = graphs[k];
      graphs[k] = new WeightedGraph(g.n, g.start, g.neighbor, g.edgeWeight, g.vertexWeight);
    }
    return graphs;
  }

  /**
   * Numbers a piece's vertices within their parts from 0; counts vertices and inner entries, with a
   * single piece at least those.
   */
  private void count(int piece, int pieces, int[] part, int[] local, int[] size, int[] edges) {
    int end = Pieces.first(piece + 1, pieces, n);
    for (int v = Pieces.first(piece, pieces, n); v < end; v++) {
      int p = part[v];
      if (p >= 0 && p < size.length) {
        local[v] = size[p]++;
        if (pieces == 1) {
          // rows follow one another in any case: room for edges between parts costs less than a
          // look at all of them
          edges[p] += degree(v);
          continue;
        }
        int inner = 0;
        for (int e = start[v]; e < start[v + 1]; e++) {
          inner += part[neighbor[e]] == p ? 1 : 0;
        }
        edges[p] += inner;
      }
    }
  }

  private void addFirst(int piece, int pieces, int[] part, int[] local, int[] first) {
    int end = Pieces.first(piece + 1, pieces, n);
    for (int v = Pieces.first(piece, pieces, n); v < end; v++) {
      if (part[v] >= 0 && part[v] < first.length) {
        local[v] += first[part[v]];
      }
    }
  }

  /**
   * Copies a piece's vertices to the graphs of their parts, entries from {@code at} on, which moves
   * to their ends.
   */
  private void extract(
      int piece, int pieces, int[] part, int[] local, WeightedGraph[] graphs, int[] at) {
    int end = Pieces.first(piece + 1, pieces, n);
    for (int v = Pieces.first(piece, pieces, n); v < end; v++) {
      int p = part[v];
      if (p < 0 || p >= graphs.length) {
        continue;
      }
      WeightedGraph g = graphs[p];
      int q = at[p];
      for (int e = start[v]; e < start[v + 1]; e++) {
        int u = neighbor[e];
        if (part[u] == p) {
          g.neighbor[q] = local[u];
          g.edgeWeight[q++] = edgeWeight[e];
        }
      }
      at[p] = q;
      g.start[local[v] + 1] = q;
      g.vertexWeight[local[v]] = vertexWeight[v];
    }
  }

  /**
   * Connected components by breadth-first search. O(n + entries).
   *
   * @param component size at least n, written: component of each vertex, numbered by first vertex
   * @param queue size at least n, scratch
   * @return number of components
   */
  public int components(int[] component, int[] queue) {
    java.util.Arrays.fill(component, 0, n, -1);
    int count = 0;
    for (int v = 0; v < n; v++) {
      if (component[v] < 0) {
        search(v, count++, component, queue);
      }
    }
    return count;
  }

  private void search(int from, int number, int[] component, int[] queue) {
    int tail = 0;
    queue[tail++] = from;
    component[from] = number;
    for (int head = 0; head < tail; head++) {
      int v = queue[head];
      for (int e = start[v]; e < start[v + 1]; e++) {
        int u = neighbor[e];
        if (component[u] < 0) {
          component[u] = number;
          queue[tail++] = u;
        }
      }
    }
  }
}
