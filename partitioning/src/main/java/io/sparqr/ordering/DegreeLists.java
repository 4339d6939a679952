/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering;

import java.util.Arrays;

/**
 * The variables of a {@link QuotientGraph} by degree: a doubly linked list for each degree, which
 * variables enter at its head. The links of a variable in none of the lists are free for other use.
 */
final class DegreeLists {

  private static final int NONE = -1;

  /** Size variables. */
  final int[] next;

  /** Size variables. */
  final int[] previous;

  /** First variable of each degree. */
  private final int[] head;

  /** At least size variables; the degree of a variable in the lists. */
  private final int[] degree;

  /** No variable in the lists has a smaller degree. */
  private int least;

  /**
   * Empty lists.
   *
   * @param most the largest degree
   * @param degree at least size variables; written by {@link #insert}
   */
  DegreeLists(int variables, int most, int[] degree) {
    next = new int[variables];
    previous = new int[variables];
    head = new int[most + 1];
    Arrays.fill(head, NONE);
    this.degree = degree;
    least = most;
  }

  void insert(int i, int d) {
    int first = head[d];
    next[i] = first;
    previous[i] = NONE;
    if (first != NONE) {
      previous[first] = i;
    }
    head[d] = i;
    degree[i] = d;
    if (d < least) {
      least = d;
    }
  }

  /** Takes a variable out of its list. */
  void remove(int i) {
    int after = next[i];
    int before = previous[i];
    if (after != NONE) {
      previous[after] = before;
    }
    if (before != NONE) {
      next[before] = after;
    } else {
      head[degree[i]] = after;
    }
  }

  /** Removes the first variable of least degree; there must be one. */
  int takeLeast() {
    while (head[least] == NONE) {
      least++;
    }
    int first = head[least];
    int second = next[first];
    head[least] = second;
    if (second != NONE) {
      previous[second] = NONE;
    }
    return first;
  }
}
