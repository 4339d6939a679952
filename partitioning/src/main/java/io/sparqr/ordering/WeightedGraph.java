/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering;

/**
 * An undirected graph with weights on vertices and edges, in compressed adjacency: the neighbours
 * of v are {@code neighbor[start[v] .. start[v+1])}, no self loops, each edge stored from both
 * ends. Arrays may be longer than what is used; nobody writes to them once the graph is made.
 */
final class WeightedGraph {
  /** Number of vertices. */
  final int n;

  /** Size n+1; offsets into neighbor and edgeWeight. */
  final int[] start;

  /** Size start[n] at least; vertex indices. */
  final int[] neighbor;

  /** Size start[n] at least; positive. */
  final int[] edgeWeight;

  /** Size n at least; positive: how many columns the vertex stands for. */
  final int[] vertexWeight;

  /** Sum of the vertex weights. */
  final int totalWeight;

  /** The greatest vertex weight, 1 at least. */
  final int maxVertexWeight;

  WeightedGraph(int n, int[] start, int[] neighbor, int[] edgeWeight, int[] vertexWeight) {
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

  /** The same where the weights' sum and greatest are known. */
  WeightedGraph(
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

  /** Neighbours of v, counted without weights. */
  int degree(int v) {
    return start[v + 1] - start[v];
  }

  /** Stored adjacency entries: twice the number of edges. */
  int entries() {
    return start[n];
  }

  /**
   * Splits the vertices by part and extracts the subgraph that each part induces; edges between
   * parts are dropped. O(n + entries).
   *
   * @param part size n; part of each vertex, or negative or {@code >= parts} for none
   * @param parts number of parts
   * @param local size n, written: index of a vertex within its part, by ascending vertex
   * @return the subgraphs, one a part
   */
  WeightedGraph[] induced(int[] part, int parts, int[] local) {
    int[] size = new int[parts];
    long[] edges = new long[parts];
    for (int v = 0; v < n; v++) {
      int p = part[v];
      if (p >= 0 && p < parts) {
        local[v] = size[p]++;
        for (int e = start[v]; e < start[v + 1]; e++) {
          if (part[neighbor[e]] == p) {
            edges[p]++;
          }
        }
      }
    }
    int[][] starts = new int[parts][];
    int[][] neighbors = new int[parts][];
    int[][] edgeWeights = new int[parts][];
    int[][] vertexWeights = new int[parts][];
    for (int p = 0; p < parts; p++) {
      starts[p] = new int[size[p] + 1];
      neighbors[p] = new int[(int) edges[p]];
      edgeWeights[p] = new int[(int) edges[p]];
      vertexWeights[p] = new int[size[p]];
    }
    for (int v = 0; v < n; v++) {
      int p = part[v];
      if (p < 0 || p >= parts) {
        continue;
      }
      int[] adjacent = neighbors[p];
      int[] weights = edgeWeights[p];
      int lv = local[v];
      int q = starts[p][lv];
      for (int e = start[v]; e < start[v + 1]; e++) {
        int u = neighbor[e];
        if (part[u] == p) {
          adjacent[q] = local[u];
          weights[q++] = edgeWeight[e];
        }
      }
      starts[p][lv + 1] = q;
      vertexWeights[p][lv] = vertexWeight[v];
    }
    WeightedGraph[] graphs = new WeightedGraph[parts];
    for (int p = 0; p < parts; p++) {
      graphs[p] =
          new WeightedGraph(size[p], starts[p], neighbors[p], edgeWeights[p], vertexWeights[p]);
    }
    return graphs;
  }

  /**
   * Connected components by breadth-first search. O(n + entries).
   *
   * @param component size n at least, written: component of each vertex, numbered by first vertex
   * @param queue size n at least, scratch
   * @return number of components
   */
  int components(int[] component, int[] queue) {
    java.util.Arrays.fill(component, 0, n, -1);
    int count = 0;
    for (int s = 0; s < n; s++) {
      if (component[s] >= 0) {
        continue;
      }
      int tail = 0;
      queue[tail++] = s;
      component[s] = count;
      for (int head = 0; head < tail; head++) {
        int v = queue[head];
        for (int e = start[v]; e < start[v + 1]; e++) {
          int u = neighbor[e];
          if (component[u] < 0) {
            component[u] = count;
            queue[tail++] = u;
          }
        }
      }
      count++;
    }
    return count;
  }
}
