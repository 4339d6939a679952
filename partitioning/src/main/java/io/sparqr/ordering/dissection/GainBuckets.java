/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering.dissection;

import java.util.Arrays;

/**
 * Gains of numbered members and a priority queue of some of them, greatest first and the latest
 * first among equals, in the doubly linked bucket lists of Fiduccia and Mattheyses (1982). All
 * gains below {@link #LOWEST_FACTOR} times the greatest share the last bucket, and with large
 * weights several gains share a bucket; every operation except finding the next top is O(1). What
 * belongs to a member lies together, so that a change touches one cache line.
 */
final class GainBuckets {
  private static final int BUCKETS = 512;
  private static final int LOWEST_FACTOR = -7;
  private static final int LOWEST_AT_LEAST = -63;

  /** Fields of a member's record. */
  private static final int NEXT = 0;

  private static final int PREVIOUS = 1;
  private static final int BUCKET = 2;
  private static final int GAIN = 3;
  private static final int LOG_FIELDS = 2;

  private final int[] head = new int[BUCKETS];

  /** Size 4 x members; fields of member s from 4 s on, its bucket is -1 outside of the queue. */
  private int[] record = new int[64 << LOG_FIELDS];

  /** No bucket above this one has a member. */
  private int top = -1;

  private int lowest;
  private int shift;

  GainBuckets() {
    Arrays.fill(head, -1);
  }

  /**
   * Forgets all members. O(buckets).
   *
   * @param greatest upper bound of the gains; positive
   */
  void reset(int greatest) {
    Arrays.fill(head, -1);
    top = -1;
    lowest =
        (int)
            Math.max(
                Integer.MIN_VALUE / 2, Math.min(LOWEST_AT_LEAST, (long) LOWEST_FACTOR * greatest));
    shift = 0;
    while (((long) greatest - lowest) >> shift >= BUCKETS) {
      shift++;
    }
  }

  /** Makes room for members 0..count-1. */
  void reserve(int count) {
    if (record.length >> LOG_FIELDS < count) {
      record = Arrays.copyOf(record, (count + (count >> 1)) << LOG_FIELDS);
    }
  }

  boolean isEmpty() {
    while (top >= 0 && head[top] < 0) {
      top--;
    }
    return top < 0;
  }

  boolean contains(int s) {
    return record[(s << LOG_FIELDS) + BUCKET] >= 0;
  }

  int gain(int s) {
    return record[(s << LOG_FIELDS) + GAIN];
  }

  /** A member of greatest gain; the queue must not be empty. */
  int top() {
    while (head[top] < 0) {
      top--;
    }
    return head[top];
  }

  /** Adds a member and its gain. */
  void insert(int s, int gain) {
    record[(s << LOG_FIELDS) + GAIN] = gain;
    link(s, bucketOf(gain));
  }

  /** Keeps the gain of a member outside of the queue. */
  void keep(int s, int gain) {
    int at = s << LOG_FIELDS;
    record[at + GAIN] = gain;
    record[at + BUCKET] = -1;
  }

  /** Changes the gain of a member, in the queue or not. */
  void change(int s, int by) {
    int at = s << LOG_FIELDS;
    int gain = record[at + GAIN] + by;
    record[at + GAIN] = gain;
    int before = record[at + BUCKET];
    if (before >= 0) {
      int b = bucketOf(gain);
      if (b != before) {
        unlink(s);
        link(s, b);
      }
    }
  }

  /** Removes a member if it is in the queue; its gain stays. */
  void remove(int s) {
    int at = s << LOG_FIELDS;
    if (record[at + BUCKET] >= 0) {
      unlink(s);
      record[at + BUCKET] = -1;
    }
  }

  private int bucketOf(int gain) {
    return gain <= lowest ? 0 : (gain - lowest) >> shift;
  }

  private void link(int s, int b) {
    int at = s << LOG_FIELDS;
    int first = head[b];
    record[at + NEXT] = first;
    record[at + PREVIOUS] = -1;
    record[at + BUCKET] = b;
    if (first >= 0) {
      record[(first << LOG_FIELDS) + PREVIOUS] = s;
    }
    head[b] = s;
    if (b > top) {
      top = b;
    }
  }

  private void unlink(int s) {
    int at = s << LOG_FIELDS;
    int after = record[at + NEXT];
    int before = record[at + PREVIOUS];
    if (before >= 0) {
      record[(before << LOG_FIELDS) + NEXT] = after;
    } else {
      head[record[at + BUCKET]] = after;
    }
    if (after >= 0) {
      record[(after << LOG_FIELDS) + PREVIOUS] = before;
    }
  }
}
