/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering.dissection;

import java.util.ArrayList;
import java.util.List;

/**
 * The arrays of one hierarchy of coarse graphs. A separator that coarsens graph after graph keeps
 * one and writes each hierarchy over the last, since a dissection would otherwise allocate many
 * times the memory of its graph. Arrays only grow, and what is in them is arbitrary.
 */
final class CoarseningSpace {

  /** What a step leaves to the levels above and below it. */
  static final class Level {
    private int[] map = {};
    private int[] start = {};
    private int[] vertexWeight = {};
    private int[] neighbor = {};
    private int[] edgeWeight = {};

    /** The coarse vertex of each fine one; size at least fine. */
    int[] map(int fine) {
      map = atLeast(map, fine);
      return map;
    }

    /** Starts of the adjacency lists of the coarse graph; element 0 is 0. */
    int[] start(int size) {
      start = atLeast(start, size);
      return start;
    }

    /** Weights of the coarse vertices; size at least coarse. */
    int[] vertexWeight(int coarse) {
      vertexWeight = atLeast(vertexWeight, coarse);
      return vertexWeight;
    }

    /** By adjacency entry of the coarse graph. */
    int[] neighbor(int entries) {
      neighbor = atLeast(neighbor, entries);
      return neighbor;
    }

    /** By adjacency entry of the coarse graph. */
    int[] edgeWeight(int entries) {
      edgeWeight = atLeast(edgeWeight, entries);
      return edgeWeight;
    }
  }

  private final List<Level> levels = new ArrayList<>();
  private int[] match = {};
  private int[] shuffled = {};
  private int[] visited = {};

  /**
   * The arrays of the step from level {@code depth} to the next, valid until they are asked for
   * again.
   */
  Level level(int depth) {
    while (levels.size() <= depth) {
      levels.add(new Level());
    }
    return levels.get(depth);
  }

  /** For the matching of a step, valid during the step. */
  int[] match(int n) {
    match = atLeast(match, n);
    return match;
  }

  /** The first scratch array of a matching. */
  int[] shuffled(int n) {
    shuffled = atLeast(shuffled, n);
    return shuffled;
  }

  /** The second scratch array of a matching. */
  int[] visited(int n) {
    visited = atLeast(visited, n);
    return visited;
  }

  private static int[] atLeast(int[] array, int size) {
    return array.length < size ? new int[size] : array;
  }
}
