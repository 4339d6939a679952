/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import io.sparqr.threads.ParallelLoop;
import org.jspecify.annotations.Nullable;

/**
 * Pairs (key, value) distributed to ranges of keys, the first of two passes of a counting sort:
 * what follows works on one range at a time, in parallel and within the caches. Stable, so that the
 * result does not depend on the number of threads. O(pairs).
 */
final class KeyBuckets {

  /** Pairs per piece of parallel work. */
  private static final int PIECE = 1 << 15;

  private static final int MOST_PIECES = 256;
  private static final int MOST_BUCKETS = 256;

  /** Number of buckets, at least 1. */
  final int count;

  /** Size count+1; the pairs of bucket b are start[b] .. start[b+1]. */
  final int[] start;

  /** The keys, by bucket. */
  final int[] key;

  /** The values, by bucket. */
  final int[] value;

  private final int shift;
  private final int keys;

  /**
   * Distributes the pairs.
   *
   * @param key size pairs; those with a key of {@code keys} are left out
   * @param value size pairs, or null for 0, 1, 2, ..
   */
  KeyBuckets(int[] key, int @Nullable [] value, int keys) {
    this.keys = keys;
    int pairs = key.length;
    int bits = 0;
    while (pairs > PIECE && (keys - 1 >> bits) >= MOST_BUCKETS) {
      bits++;
    }
    shift = pairs > PIECE ? bits : 31;
    count = keys == 0 ? 1 : (keys - 1 >> shift) + 1;
    int pieces = Math.max(1, Math.min(MOST_PIECES, pairs / PIECE));
    int[][] next = new int[pieces][count];
    ParallelLoop.onAll(pieces, p -> count(key, p, pieces, next[p]));
    start = new int[count + 1];
    int sum = 0;
    for (int b = 0; b < count; b++) {
      for (int p = 0; p < pieces; p++) {
        int size = next[p][b];
        next[p][b] = sum;
        sum += size;
      }
      start[b + 1] = sum;
    }
    this.key = new int[sum];
    this.value = new int[sum];
    ParallelLoop.onAll(pieces, p -> place(key, value, p, pieces, next[p]));
  }

  private void count(int[] key, int piece, int pieces, int[] size) {
    int to = first(piece + 1, pieces, key.length);
    for (int i = first(piece, pieces, key.length); i < to; i++) {
      if (key[i] < keys) {
        size[key[i] >> shift]++;
      }
    }
  }

  private void place(int[] from, int @Nullable [] values, int piece, int pieces, int[] next) {
    int to = first(piece + 1, pieces, from.length);
    for (int i = first(piece, pieces, from.length); i < to; i++) {
      int k = from[i];
      if (k < keys) {
        int at = next[k >> shift]++;
        key[at] = k;
        value[at] = values == null ? i : values[i];
      }
    }
  }

  private static int first(int piece, int pieces, int n) {
    return (int) ((long) n * piece / pieces);
  }

  /** The first key of a bucket; for the bucket after the last, the number of keys. */
  int firstKey(int bucket) {
    return (int) Math.min((long) bucket << shift, keys);
  }

  /**
   * The second pass: the values of a bucket by key.
   *
   * @param end size firstKey(bucket+1) - firstKey(bucket); receives for each key of the bucket
   *     where its values end in {@code sorted}
   * @param sorted receives the values from index {@code at} on
   */
  void sort(int bucket, int[] end, int[] sorted, int at) {
    int base = firstKey(bucket);
    for (int i = start[bucket]; i < start[bucket + 1]; i++) {
      end[key[i] - base]++;
    }
    int sum = at;
    for (int k = 0; k < end.length; k++) {
      int size = end[k];
      end[k] = sum;
      sum += size;
    }
    for (int i = start[bucket]; i < start[bucket + 1]; i++) {
      sorted[end[key[i] - base]++] = value[i];
    }
  }
}
