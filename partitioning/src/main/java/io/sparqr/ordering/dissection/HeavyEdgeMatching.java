/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering.dissection;

import io.sparqr.ordering.graph.Pieces;
import io.sparqr.ordering.graph.WeightedGraph;
import io.sparqr.threads.ParallelLoop;
import java.util.Arrays;

/**
 * A matching of heavy edges (Karypis and Kumar 1998, section 3.1). Vertices are visited by
 * ascending degree, at random among equals; each takes the unmatched neighbour with the heaviest
 * edge. Large graphs are matched in chunks of {@value #CHUNK} successive vertices side by side,
 * first along edges within a chunk; if many stay unmatched, they propose to each other and mutual
 * proposals are kept (locally dominant edges, Manne and Bisseling 2008); the remaining ones are
 * matched one after another. If many are unmatched even then (stars, power laws), vertices that
 * share a neighbour are paired. The matching depends on graph and seed, not on threads. O(n +
 * entries).
 */
final class HeavyEdgeMatching {
  /** Vertices of a chunk; graphs of less than two chunks are one. */
  private static final int CHUNK = 8192;

  /** Vertices at distance two are paired if more than this fraction stays unmatched. */
  private static final double UNMATCHED_FRACTION = 0.10;

  /** A round of proposals pays while at least one vertex in this many is unmatched. */
  private static final int PROPOSALS_FROM = 32;

  private static final int PROPOSAL_ROUNDS = 6;

  private final WeightedGraph g;
  private final int maxWeight;
  private final long seed;
  private final int chunks;

  /**
   * The first chunk is shorter by this: chunk boundaries then differ from one coarsening step to
   * the next.
   */
  private final int shift;

  /** The partner, or -1. */
  private final int[] match;

  /** Size n; scratch, at last what {@link #heaviestFree} finds for a vertex. */
  private final int[] wanted;

  /** Size n; scratch, at last the vertices that have no partner and may yet find one. */
  private final int[] waiting;

  private int waitingCount;

  /** Vertices that are known to stay without a partner along an edge. */
  private int unmatched;

  private HeavyEdgeMatching(WeightedGraph g, int maxWeight, long seed, CoarseningSpace space) {
    this.g = g;
    this.maxWeight = maxWeight;
    this.seed = seed;
    this.chunks = g.n < 2 * CHUNK ? 1 : g.n / CHUNK + 1;
    this.shift = new DissectionRandom(seed).next(CHUNK);
    this.match = space.match(g.n);
    this.wanted = space.shuffled(g.n);
    this.waiting = space.visited(g.n);
  }

  /**
   * Matches the vertices of a graph.
   *
   * @param maxWeight no pair may weigh more
   * @param space where the matching is kept
   * @return size at least n; the partner of each vertex, itself if it has none
   */
  static int[] of(WeightedGraph g, int maxWeight, long seed, CoarseningSpace space) {
    HeavyEdgeMatching matching = new HeavyEdgeMatching(g, maxWeight, seed, space);
    matching.run();
    return matching.match;
  }

  private void run() {
    int cap = (int) (0.7 * g.entries() / Math.max(1, g.n)) + 1;
    int[] alone = new int[chunks];
    ParallelLoop.run(chunks, c -> alone[c] = matchChunk(c, cap));
    unmatched = Arrays.stream(alone).sum();
    if (chunks > 1) {
      unmatched = 0;
      findFree();
      for (int round = 0; round < PROPOSAL_ROUNDS && waitingCount > g.n / PROPOSALS_FROM; round++) {
        propose(DissectionRandom.mix(seed, chunks + round));
      }
      unmatched += matchRest();
    }
    if (unmatched > UNMATCHED_FRACTION * g.n) {
      matchAtDistanceTwo();
    }
    int pieces = Pieces.of(g.n, 4L * g.n);
    ParallelLoop.run(
        pieces,
        p -> {
          int end = Pieces.first(p + 1, pieces, g.n);
          for (int v = Pieces.first(p, pieces, g.n); v < end; v++) {
            match[v] = match[v] < 0 ? v : match[v];
          }
        });
  }

  /** Matches along the edges within a chunk; returns how many vertices stay unmatched. */
  private int matchChunk(int chunk, int cap) {
    int first = chunk == 0 ? 0 : chunk * CHUNK - shift;
    int end = chunk == chunks - 1 ? g.n : (chunk + 1) * CHUNK - shift;
    Arrays.fill(match, first, end, -1);
    int[] start = g.start;
    int[] neighbor = g.neighbor;
    int[] edgeWeight = g.edgeWeight;
    int[] weight = g.vertexWeight;
    int unmatched = 0;
    int lonely = -1;
    boolean whole = chunks == 1;
    int[] order = visitOrder(first, end, cap, DissectionRandom.mix(seed, chunk));
    for (int k = first; k < end; k++) {
      int v = order[k];
      if (match[v] >= 0) {
        continue;
      }
      int room = maxWeight - weight[v];
      int best = -1;
      int heaviest = 0;
      int rowStart = start[v];
      int degree = start[v + 1] - rowStart;
      // among equal edges none must be preferred for its place: those within a chunk have one
      int turn = whole ? 0 : turn(v, degree);
      for (int i = 0; i < degree; i++) {
        int e = rowStart + (i + turn < degree ? i + turn : i + turn - degree);
        int u = neighbor[e];
        if (edgeWeight[e] <= heaviest || weight[u] > room) {
          continue;
        }
        if (u < first || u >= end) {
          heaviest = edgeWeight[e];
          best = -1;
        } else if (match[u] < 0) {
          heaviest = edgeWeight[e];
          best = u;
        }
      }
      if (best < 0 && start[v] == start[v + 1]) {
        if (lonely >= 0 && weight[lonely] <= room) {
          best = lonely;
          unmatched--;
          lonely = -1;
        } else {
          lonely = v;
        }
      }
      if (best >= 0) {
        match[v] = best;
        match[best] = v;
      } else {
        unmatched++;
      }
    }
    return unmatched;
  }

  /** Where to start among the neighbours of v: at random in [0, degree). */
  private int turn(int v, int degree) {
    long h = (v + seed) * 0x9E3779B97F4A7C15L;
    return (int) (((h >>> 32) * degree) >>> 32);
  }

  /** The vertices [first, end) in the order of their visits, at the same places of the result. */
  private int[] visitOrder(int first, int end, int cap, long chunkSeed) {
    int[] shuffled = wanted;
    new DissectionRandom(chunkSeed).permutation(shuffled, first, end - first);
    int[] next = new int[cap + 2];
    next[0] = first;
    for (int v = first; v < end; v++) {
      next[Math.min(g.degree(v), cap) + 1]++;
    }
    for (int d = 0; d <= cap; d++) {
      next[d + 1] += next[d];
    }
    int[] order = waiting;
    for (int k = first; k < end; k++) {
      int v = first + shuffled[k];
      order[next[Math.min(g.degree(v), cap)]++] = v;
    }
    return order;
  }

  /** Takes all vertices without a partner as waiting. */
  private void findFree() {
    int pieces = Pieces.of(g.n, 4L * g.n);
    int[] count = new int[pieces];
    ParallelLoop.run(
        pieces,
        p -> {
          int first = Pieces.first(p, pieces, g.n);
          int end = Pieces.first(p + 1, pieces, g.n);
          int tail = first;
          for (int v = first; v < end; v++) {
            if (match[v] < 0) {
              waiting[tail++] = v;
            }
          }
          count[p] = tail - first;
        });
    closeUp(count, g.n);
  }

  /**
   * One round: each waiting vertex proposes to its heaviest free neighbour, ties broken by a hash;
   * mutual proposals are kept. Those that are still free and have a free neighbour go on waiting.
   */
  private void propose(long roundSeed) {
    int before = waitingCount;
    int pieces = Pieces.of(before, 8L * before);
    ParallelLoop.run(
        pieces,
        p -> {
          int end = Pieces.first(p + 1, pieces, before);
          for (int i = Pieces.first(p, pieces, before); i < end; i++) {
            wanted[waiting[i]] = heaviestFree(waiting[i], roundSeed);
          }
        });
    int[] still = new int[pieces];
    int[] alone = new int[pieces];
    ParallelLoop.run(
        pieces,
        p -> {
          int first = Pieces.first(p, pieces, before);
          int end = Pieces.first(p + 1, pieces, before);
          int tail = first;
          for (int i = first; i < end; i++) {
            int v = waiting[i];
            int u = wanted[v];
            if (u < 0) {
              // no free neighbour now, and never again
              alone[p]++;
            } else if (wanted[u] == v) {
              match[v] = u;
            } else {
              waiting[tail++] = v;
            }
          }
          still[p] = tail - first;
        });
    for (int count : alone) {
      unmatched += count;
    }
    closeUp(still, before);
  }

  /** Joins the first {@code count[p]} waiting vertices of each piece of {@code size} places. */
  private void closeUp(int[] count, int size) {
    int end = 0;
    for (int p = 0; p < count.length; p++) {
      System.arraycopy(waiting, Pieces.first(p, count.length, size), waiting, end, count[p]);
      end += count[p];
    }
    waitingCount = end;
  }

  private int heaviestFree(int v, long roundSeed) {
    int room = maxWeight - g.vertexWeight[v];
    int best = -1;
    int heaviest = 0;
    long bestHash = 0;
    for (int e = g.start[v]; e < g.start[v + 1]; e++) {
      int u = g.neighbor[e];
      int weight = g.edgeWeight[e];
      if (weight < heaviest || match[u] >= 0 || g.vertexWeight[u] > room) {
        continue;
      }
      long hash = DissectionRandom.mix(roundSeed ^ (long) Math.min(u, v) << 32, Math.max(u, v));
      if (weight > heaviest || hash < bestHash) {
        heaviest = weight;
        best = u;
        bestHash = hash;
      }
    }
    return best;
  }

  /** Matches the waiting vertices one after another; returns how many stay unmatched. */
  private int matchRest() {
    int alone = waitingCount;
    for (int k = 0; k < waitingCount; k++) {
      int v = waiting[k];
      if (match[v] >= 0) {
        continue;
      }
      int room = maxWeight - g.vertexWeight[v];
      int best = -1;
      int heaviest = 0;
      for (int e = g.start[v]; e < g.start[v + 1]; e++) {
        int u = g.neighbor[e];
        if (g.edgeWeight[e] > heaviest && match[u] < 0 && g.vertexWeight[u] <= room) {
          heaviest = g.edgeWeight[e];
          best = u;
        }
      }
      if (best >= 0) {
        match[v] = best;
        match[best] = v;
        alone -= 2;
      }
    }
    return alone;
  }

  private void matchAtDistanceTwo() {
    for (int hub = 0; hub < g.n; hub++) {
      int waiting = -1;
      for (int e = g.start[hub]; e < g.start[hub + 1]; e++) {
        int v = g.neighbor[e];
        if (match[v] >= 0) {
          continue;
        }
        if (waiting < 0) {
          waiting = v;
        } else if (g.vertexWeight[v] + g.vertexWeight[waiting] <= maxWeight) {
          match[v] = waiting;
          match[waiting] = v;
          waiting = -1;
        } else if (g.vertexWeight[v] < g.vertexWeight[waiting]) {
          waiting = v;
        }
      }
    }
  }
}
