/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering;

/**
 * A vertex separator of a graph, modified in place: every vertex is on side 0, on side 1 or in the
 * separator (2), and no edge joins the two sides. Moving v out of the separator to side s pulls v's
 * neighbours on the other side into it, so the separator shrinks by {@code weight(v) -
 * pull(1-s)(v)}. One object serves every level of a multilevel hierarchy; its arrays grow to the
 * largest graph.
 */
final class SeparatorState {
  /** The part number of the separator. */
  static final int SEPARATOR = 2;

  /** Weights of side 0, side 1 and the separator. */
  final int[] weight = new int[3];

  /** Size n; part of each vertex. */
  int[] part = new int[0];

  /** Members of the separator, {@code members[0 .. memberCount)}, in arbitrary order. */
  int[] members = new int[0];

  int memberCount;

  /**
   * For a vertex in the separator: weight of its neighbours on side 0 and on side 1, unless stale.
   */
  final int[][] pull = new int[2][0];

  /** Members by their gain in moving to side 0 and to side 1; empty outside of a refinement. */
  final GainBuckets[] toward = {new GainBuckets(), new GainBuckets()};

  /** The array that {@link #project} writes to, swapped with {@code part}. */
  private int[] spare = new int[0];

  private int[] memberPlace = new int[0];
  private WeightedGraph graph;

  WeightedGraph graph() {
    return graph;
  }

  /** Binds a graph and makes room for its vertices in every array; parts are not set. */
  void bind(WeightedGraph g) {
    graph = g;
    emptyQueues();
    if (part.length < g.n) {
      part = new int[g.n];
    }
    if (members.length < g.n) {
      members = new int[g.n];
      memberPlace = new int[g.n];
      pull[0] = new int[g.n];
      pull[1] = new int[g.n];
    }
  }

  /** Empties the queues of members by gain. */
  void emptyQueues() {
    toward[0].reset(graph.n, graph.maxVertexWeight);
    toward[1].reset(graph.n, graph.maxVertexWeight);
  }

  /** Puts every vertex on one side. O(n). */
  void allOnSide(int side) {
    java.util.Arrays.fill(part, 0, graph.n, side);
    memberCount = 0;
    weight[0] = 0;
    weight[1] = 0;
    weight[SEPARATOR] = 0;
    weight[side] = graph.totalWeight;
  }

  /** Takes weights and members from {@code part}; pulls are stale afterwards. O(n). */
  void recompute() {
    memberCount = 0;
    weight[0] = 0;
    weight[1] = 0;
    weight[SEPARATOR] = 0;
    for (int v = 0; v < graph.n; v++) {
      int p = part[v];
      weight[p] += graph.vertexWeight[v];
      if (p == SEPARATOR) {
        memberPlace[v] = memberCount;
        members[memberCount++] = v;
      }
    }
  }

  /** Projects a separator of the coarse graph onto the fine one, and binds the fine one. */
  void project(WeightedGraph fine, int[] map) {
    int[] coarsePart = part;
    part = spare.length < fine.n ? new int[Math.max(fine.n, part.length)] : spare;
    spare = coarsePart;
    int[] finePart = part;
    int pieces = Pieces.of(fine.n, 4L * fine.n);
    ParallelLoop.run(
        pieces,
        p -> {
          int end = Pieces.first(p + 1, pieces, fine.n);
          for (int v = Pieces.first(p, pieces, fine.n); v < end; v++) {
            finePart[v] = coarsePart[map[v]];
          }
        });
    bind(fine);
    memberCount = 0;
    for (int v = 0; v < fine.n; v++) {
      if (finePart[v] == SEPARATOR) {
        memberPlace[v] = memberCount;
        members[memberCount++] = v;
      }
    }
  }

  /** Gain of moving member v to a side: the decrease of the separator's weight. */
  int gain(int v, int side) {
    return graph.vertexWeight[v] - pull[1 - side][v];
  }

  /**
   * Moves a vertex from a side into the separator and updates pulls and gains around it. O(degree).
   */
  void pullIn(int v) {
    int from = part[v];
    int w = graph.vertexWeight[v];
    part[v] = SEPARATOR;
    memberPlace[v] = memberCount;
    members[memberCount++] = v;
    weight[from] -= w;
    weight[SEPARATOR] += w;
    int[] side = pull[from];
    GainBuckets away = toward[1 - from];
    int p0 = 0;
    int p1 = 0;
    for (int e = graph.start[v]; e < graph.start[v + 1]; e++) {
      int u = graph.neighbor[e];
      int p = part[u];
      if (p == SEPARATOR) {
        side[u] -= w;
        if (away.contains(u)) {
          away.update(u, graph.vertexWeight[u] - side[u]);
        }
      } else if (p == 0) {
        p0 += graph.vertexWeight[u];
      } else {
        p1 += graph.vertexWeight[u];
      }
    }
    pull[0][v] = p0;
    pull[1][v] = p1;
  }

  /** Moves a member without neighbours on the other side to a side. O(degree). */
  void release(int v, int to) {
    int w = graph.vertexWeight[v];
    part[v] = to;
    int last = members[--memberCount];
    int hole = memberPlace[v];
    members[hole] = last;
    memberPlace[last] = hole;
    weight[to] += w;
    weight[SEPARATOR] -= w;
    int[] side = pull[to];
    GainBuckets away = toward[1 - to];
    for (int e = graph.start[v]; e < graph.start[v + 1]; e++) {
      int u = graph.neighbor[e];
      if (part[u] == SEPARATOR) {
        side[u] += w;
        if (away.contains(u)) {
          away.update(u, graph.vertexWeight[u] - side[u]);
        }
      }
    }
  }

  /** Undoes a {@link #release}, except for the pulls, which are stale afterwards. O(1). */
  void takeBackRelease(int v) {
    int w = graph.vertexWeight[v];
    weight[part[v]] -= w;
    weight[SEPARATOR] += w;
    part[v] = SEPARATOR;
    memberPlace[v] = memberCount;
    members[memberCount++] = v;
  }

  /**
   * Undoes a {@link #pullIn} from a side, except for the pulls, which are stale afterwards. O(1).
   */
  void takeBackPull(int v, int side) {
    int w = graph.vertexWeight[v];
    weight[side] += w;
    weight[SEPARATOR] -= w;
    part[v] = side;
    int last = members[--memberCount];
    int hole = memberPlace[v];
    members[hole] = last;
    memberPlace[last] = hole;
  }

  /** Sums the weights of a member's neighbours on either side. O(degree). */
  void recomputePull(int v) {
    int p0 = 0;
    int p1 = 0;
    for (int e = graph.start[v]; e < graph.start[v + 1]; e++) {
      int u = graph.neighbor[e];
      if (part[u] == 0) {
        p0 += graph.vertexWeight[u];
      } else if (part[u] == 1) {
        p1 += graph.vertexWeight[u];
      }
    }
    pull[0][v] = p0;
    pull[1][v] = p1;
  }
}
