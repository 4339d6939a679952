/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering;

import java.util.Arrays;

/**
 * A priority queue of vertices by gain, greatest first and the latest first among equals, in the
 * doubly linked bucket lists of Fiduccia and Mattheyses (1982). All gains below {@link
 * #LOWEST_FACTOR} times the greatest share the last bucket, and with large weights several gains
 * share a bucket; every operation except finding the next top is O(1).
 */
final class GainBuckets {
  private static final int BUCKETS = 512;
  private static final int LOWEST_FACTOR = -7;
  private static final int LOWEST_AT_LEAST = -63;

  private final int[] head = new int[BUCKETS];
  private int[] next = new int[0];
  private int[] previous = new int[0];
  private int[] bucket = new int[0];
  private int size;
  private int top = -1;
  private int lowest;
  private int shift;

  GainBuckets() {
    Arrays.fill(head, -1);
  }

  /**
   * Empties the queue. O(buckets + size), O(n) if it must grow.
   *
   * @param n vertices 0..n-1 may be inserted afterwards
   * @param greatest upper bound of the gains; positive
   */
  void reset(int n, int greatest) {
    for (; top >= 0 && size > 0; top--) {
      for (int v = head[top]; v >= 0; v = next[v]) {
        bucket[v] = -1;
        size--;
      }
      head[top] = -1;
    }
    top = -1;
    if (n > next.length) {
      next = new int[n];
      previous = new int[n];
      bucket = new int[n];
      Arrays.fill(bucket, -1);
    }
    lowest =
        (int)
            Math.max(
                Integer.MIN_VALUE / 2, Math.min(LOWEST_AT_LEAST, (long) LOWEST_FACTOR * greatest));
    shift = 0;
    while (((long) greatest - lowest) >> shift >= BUCKETS) {
      shift++;
    }
  }

  boolean isEmpty() {
    return size == 0;
  }

  boolean contains(int v) {
    return bucket[v] >= 0;
  }

  /** A vertex of greatest gain; the queue must not be empty. */
  int top() {
    while (head[top] < 0) {
      top--;
    }
    return head[top];
  }

  void insert(int v, int gain) {
    size++;
    link(v, bucketOf(gain));
  }

  /** Changes the gain of a vertex that is in the queue. */
  void update(int v, int gain) {
    int b = bucketOf(gain);
    if (b != bucket[v]) {
      unlink(v);
      link(v, b);
    }
  }

  /** Removes a vertex if it is in the queue. */
  void remove(int v) {
    if (bucket[v] >= 0) {
      unlink(v);
      bucket[v] = -1;
      size--;
    }
  }

  private int bucketOf(int gain) {
    return gain <= lowest ? 0 : (gain - lowest) >> shift;
  }

  private void link(int v, int b) {
    int first = head[b];
    next[v] = first;
    previous[v] = -1;
    if (first >= 0) {
      previous[first] = v;
    }
    head[b] = v;
    bucket[v] = b;
    if (b > top) {
      top = b;
    }
  }

  private void unlink(int v) {
    int after = next[v];
    int before = previous[v];
    if (before >= 0) {
      next[before] = after;
    } else {
      head[bucket[v]] = after;
    }
    if (after >= 0) {
      previous[after] = before;
    }
  }
}
