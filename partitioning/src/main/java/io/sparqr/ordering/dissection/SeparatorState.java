/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering.dissection;

import io.sparqr.ordering.graph.Pieces;
import io.sparqr.ordering.graph.WeightedGraph;
import io.sparqr.threads.ParallelLoop;
import java.util.Arrays;

/**
 * A vertex separator of a graph, modified in place: every vertex is on side 0, on side 1 or in the
 * separator (2), and no edge joins the two sides. Moving v out of the separator to a side pulls v's
 * neighbours on the other side into it, so the separator shrinks by {@code weight(v)} less the
 * weight of those.
 *
 * <p>While moves are made ({@link #open} to {@link #close}) the members are numbered, and {@code
 * part} holds a member's number: all that a move must know of a neighbour is one read away, and
 * what changes lies in arrays of the separator's size, not the graph's. Members get numbers in the
 * order in which they come; {@link #settle} renumbers those that are left. One object serves every
 * level of a multilevel hierarchy; its arrays grow to what is needed.
 */
final class SeparatorState {
  /** The part number of the separator. */
  static final int SEPARATOR = 2;

  /** While moves are made: set in the part of a vertex that has moved to a side. */
  private static final int MOVED = 2;

  /** While moves are made: the part of member 0; member s has this plus s. */
  private static final int FIRST_MEMBER = 4;

  /** Weights of side 0, side 1 and the separator. */
  final int[] weight = new int[3];

  /** Size n; part of each vertex. */
  int[] part = new int[0];

  /** The gains of members in moving to side 0 and to side 1, valid while moves are made. */
  final GainBuckets[] toward = {new GainBuckets(), new GainBuckets()};

  /** Size memberCount at least; vertex of each member, and while moves are made of past ones. */
  private int[] member = new int[64];

  private int memberCount;

  /** Number of members when moves were last settled. */
  private int settled;

  /** Size moves at least; the members moved since the last settling. */
  private int[] moved = new int[64];

  /** Size moves at least; number of members after each of those moves. */
  private int[] membersAfter = new int[64];

  private int moves;

  /** The array that {@link #project} writes to, swapped with {@code part}. */
  private int[] spare = new int[0];

  /** Bound before anything else is called. */
  @SuppressWarnings("NullAway.Init")
  private WeightedGraph graph;

  WeightedGraph graph() {
    return graph;
  }

  /** Number of members; while moves are made, those that have left since are counted as well. */
  int memberCount() {
    return memberCount;
  }

  /** Moves since the last settling. */
  int moves() {
    return moves;
  }

  /** Binds a graph and makes room for its vertices; parts are not set. */
  void bind(WeightedGraph g) {
    graph = g;
    if (part.length < g.n) {
      part = new int[g.n];
    }
  }

  /** Puts every vertex on one side and makes it ready for moves. O(n). */
  void openOnSide(int side) {
    Arrays.fill(part, 0, graph.n, side);
    memberCount = 0;
    settled = 0;
    moves = 0;
    weight[0] = 0;
    weight[1] = 0;
    weight[SEPARATOR] = 0;
    weight[side] = graph.totalWeight;
    emptyQueues();
  }

  /** Takes weights and members from {@code part}. O(n). */
  void recompute() {
    memberCount = 0;
    weight[0] = 0;
    weight[1] = 0;
    weight[SEPARATOR] = 0;
    for (int v = 0; v < graph.n; v++) {
      int p = part[v];
      weight[p] += graph.vertexWeight[v];
      if (p == SEPARATOR) {
        addMember(v);
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
        addMember(v);
      }
    }
  }

  private void addMember(int v) {
    if (memberCount == member.length) {
      member = Arrays.copyOf(member, 2 * memberCount);
    }
    member[memberCount++] = v;
  }

  /** Makes ready for moves. O(members). */
  void open() {
    for (int s = 0; s < memberCount; s++) {
      part[member[s]] = FIRST_MEMBER + s;
    }
    moves = 0;
    settled = memberCount;
  }

  /** Ends the moves, which are settled: parts are 0, 1 and 2 again. O(members). */
  void close() {
    for (int s = 0; s < memberCount; s++) {
      part[member[s]] = SEPARATOR;
    }
  }

  private void emptyQueues() {
    toward[0].reset(graph.maxVertexWeight);
    toward[1].reset(graph.maxVertexWeight);
  }

  /**
   * Sums the gains of all members, and queues them for both sides, the one numbered {@code first}
   * first. Moves must be settled. O(members x degree).
   */
  void queueAll(int first) {
    emptyQueues();
    toward[0].reserve(memberCount);
    toward[1].reserve(memberCount);
    for (int i = 0; i < memberCount; i++) {
      int at = i + first;
      int s = at < memberCount ? at : at - memberCount;
      int v = member[s];
      int w0 = 0;
      int w1 = 0;
      for (int e = graph.start[v]; e < graph.start[v + 1]; e++) {
        int u = graph.neighbor[e];
        int p = part[u];
        if (p == 0) {
          w0 += graph.vertexWeight[u];
        } else if (p == 1) {
          w1 += graph.vertexWeight[u];
        }
      }
      toward[0].insert(s, graph.vertexWeight[v] - w1);
      toward[1].insert(s, graph.vertexWeight[v] - w0);
    }
  }

  /** The weight of a member. */
  int memberWeight(int s) {
    return graph.vertexWeight[member[s]];
  }

  /**
   * Moves a member to a side, and its neighbours on the other side into the separator. Those that
   * have not moved yet are queued for the same side alone: going back would only pull v in again.
   * O(degree x (1 + vertices pulled in)).
   */
  void move(int s, int to) {
    int v = member[s];
    toward[0].remove(s);
    toward[1].remove(s);
    int w = graph.vertexWeight[v];
    part[v] = to | MOVED;
    weight[to] += w;
    weight[SEPARATOR] -= w;
    GainBuckets away = toward[1 - to];
    int[] neighbor = graph.neighbor;
    int end = graph.start[v + 1];
    for (int e = graph.start[v]; e < end; e++) {
      int u = neighbor[e];
      int p = part[u];
      if (p >= FIRST_MEMBER) {
        away.change(p - FIRST_MEMBER, -w);
      } else if ((p & 1) != to) {
        pullIn(u, to);
      }
    }
    if (moves == moved.length) {
      moved = Arrays.copyOf(moved, 2 * moves);
      membersAfter = Arrays.copyOf(membersAfter, 2 * moves);
    }
    moved[moves] = s;
    membersAfter[moves++] = memberCount;
  }

  /** Moves a vertex from a side into the separator; if it has not moved yet, it is queued. */
  void pullIn(int v, int to) {
    int s = memberCount;
    addMember(v);
    boolean queued = part[v] < MOVED;
    part[v] = FIRST_MEMBER + s;
    int w = graph.vertexWeight[v];
    weight[1 - to] -= w;
    weight[SEPARATOR] += w;
    GainBuckets gaining = toward[to];
    int w0 = 0;
    int w1 = 0;
    int[] neighbor = graph.neighbor;
    int[] vertexWeight = graph.vertexWeight;
    int end = graph.start[v + 1];
    for (int e = graph.start[v]; e < end; e++) {
      int u = neighbor[e];
      int p = part[u];
      if (p >= FIRST_MEMBER) {
        gaining.change(p - FIRST_MEMBER, w);
      } else if ((p & 1) == 0) {
        w0 += vertexWeight[u];
      } else {
        w1 += vertexWeight[u];
      }
    }
    gaining.reserve(s + 1);
    toward[1 - to].reserve(s + 1);
    toward[1 - to].keep(s, w - (to == 0 ? w0 : w1));
    if (queued) {
      gaining.insert(s, w - (to == 0 ? w1 : w0));
    } else {
      gaining.keep(s, w - (to == 0 ? w1 : w0));
    }
  }

  /** Undoes the latest moves until {@code count} are left, and settles those. Gains are stale. */
  void undoTo(int count) {
    while (moves > count) {
      int s = moved[--moves];
      int v = member[s];
      int to = part[v] & 1;
      int before = moves == 0 ? settled : membersAfter[moves - 1];
      int w = graph.vertexWeight[v];
      weight[to] -= w;
      weight[SEPARATOR] += w;
      part[v] = FIRST_MEMBER + s;
      while (memberCount > before) {
        int u = member[--memberCount];
        part[u] = 1 - to;
        weight[1 - to] += graph.vertexWeight[u];
        weight[SEPARATOR] -= graph.vertexWeight[u];
      }
    }
    settle();
  }

  /**
   * Renumbers the members and forgets which vertices have moved. O(members, left ones included).
   */
  void settle() {
    for (int i = 0; i < moves; i++) {
      int v = member[moved[i]];
      if (part[v] < FIRST_MEMBER) {
        part[v] &= 1;
      }
    }
    moves = 0;
    int count = 0;
    for (int s = 0; s < memberCount; s++) {
      int v = member[s];
      if (part[v] == FIRST_MEMBER + s) {
        part[v] = FIRST_MEMBER + count;
        member[count++] = v;
      }
    }
    memberCount = count;
    settled = count;
  }
}
