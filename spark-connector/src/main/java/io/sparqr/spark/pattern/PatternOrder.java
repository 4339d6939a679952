/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.pattern;

import io.sparqr.error.IndexOverflowException;
import io.sparqr.spark.wire.PatternCodec;
import io.sparqr.spark.wire.PatternCodec.Patterns;
import io.sparqr.sparse.SparsityPattern;
import io.sparqr.threads.Parallel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.jspecify.annotations.Nullable;

/**
 * Merges distinct patterns from several sources in an order that depends on the patterns alone: by
 * least column (empty patterns last), then by hash, then lexicographically; equal ones become one.
 *
 * <p>Nothing is compared with more than its neighbours: the counts of the least columns, and within
 * a column the hash, which is uniform, give nearly the final place of a pattern, its rank. Threads
 * sort pieces of the sources by rank into buckets of a few thousand, then each bucket by counting.
 * Expected O(patterns + entries + columns). Memory: at first the sources, 26 bytes per pattern
 * beside them, and buckets of 12 per pattern and 4 per entry; then the buckets and the result, 16
 * per pattern and 4 per entry; 12 per column.
 */
final class PatternOrder {

  /** Patterns of a source that are ranked together. */
  private static final int PIECE = 1 << 16;

  /** Least and largest number of ranks per bucket, as powers of 2; places in a bucket are chars. */
  private static final int LEAST_SHIFT = 12;

  private static final int MOST_SHIFT = 16;

  /** Number of buckets from which on they become larger instead of more. */
  private static final int BUCKETS = 1 << 12;

  private final int columns;
  private final int threads;

  /** Size n+2; ranks of the patterns with least column j: place[j] .. place[j+1]. */
  private final long[] place;

  /** With a ridge, 1 for each column that is a pattern by itself; otherwise null. */
  private final byte @Nullable [] single;

  private final int shift;
  private final PatternBucket[] bucket;

  /**
   * The result of the merge.
   *
   * @param sum of the patterns' hashes times multiplicity, without the ridge's
   */
  record Merged(SparsityPattern pattern, long sum) {}

  /**
   * Some patterns of a source, by bucket.
   *
   * <p>All that a bucket needs of a pattern but its columns is here, in the order of the bucket: in
   * the source it would be a cache miss each.
   *
   * @param start size buckets+1; the patterns of bucket b are at [start[b], start[b+1]) of the
   *     others
   * @param column the source's columns
   * @param from where those of each pattern begin
   * @param length their number
   * @param multiplicity of each pattern
   * @param hash their hashes
   * @param cell their ranks within the bucket
   */
  record Piece(
      int[] start,
      int[] column,
      int[] from,
      int[] length,
      long[] multiplicity,
      long[] hash,
      char[] cell) {}

  /**
   * Orders the patterns and merges equal ones.
   *
   * @param sources all patterns; emptied, so that they are garbage afterwards
   * @param columns n, larger than any column of a pattern
   * @param ridge whether every column has a ridge row
   * @throws IndexOverflowException if the sources have 2^31 patterns or more
   */
  PatternOrder(List<DistinctPatterns> sources, int columns, boolean ridge, int threads) {
    this.columns = columns;
    this.threads = threads;
    long all = sources.stream().mapToLong(DistinctPatterns::count).sum();
    requireIndexable(all + (ridge ? columns : 0), 0);
    single = ridge ? new byte[columns] : null;
    Cut[] cut = cuts(sources);
    sources.clear();
    place = places(cut);
    long ranks = place[columns + 1];
    shift = Math.max(LEAST_SHIFT, Math.min(MOST_SHIFT, log2(ranks / BUCKETS)));
    bucket = new PatternBucket[(int) ((ranks >>> shift) + 1)];
    var piece = new Piece[cut.length];
    Parallel.loop(
        cut.length, 1, threads, (k, next, thread) -> piece[k] = piece(cut[k], bucket.length));
    var scratch = new PatternBucket.Scratch[threads];
    Parallel.loop(
        bucket.length,
        1,
        threads,
        (b, next, thread) -> {
          if (scratch[thread] == null) {
            scratch[thread] = new PatternBucket.Scratch(1 << shift);
          }
          bucket[b] =
              new PatternBucket(b, piece, ridgeOf(b), single == null ? 0 : 1, scratch[thread]);
        });
  }

  private static int log2(long x) {
    return 64 - Long.numberOfLeadingZeros(x);
  }

  /** Patterns [from, to) of a source. */
  private record Cut(DistinctPatterns source, int from, int to) {}

  private static Cut[] cuts(List<DistinctPatterns> sources) {
    var cut = new ArrayList<Cut>();
    for (DistinctPatterns source : sources) {
      for (long from = 0; from < source.count(); from += PIECE) {
        cut.add(new Cut(source, (int) from, (int) Math.min(source.count(), from + PIECE)));
      }
    }
    return cut.toArray(new Cut[0]);
  }

  /** Counts the least columns; a ridge takes one more place in each, behind its patterns. */
  private long[] places(Cut[] cut) {
    var count = new AtomicIntegerArray(columns + 1);
    Parallel.loop(cut.length, 1, threads, (k, next, thread) -> count(cut[k], count));
    long[] at = new long[columns + 2];
    for (int j = 0; j <= columns; j++) {
      at[j + 1] = at[j] + count.getPlain(j) + (single != null && j < columns ? 1 : 0);
    }
    return at;
  }

  private void count(Cut cut, AtomicIntegerArray count) {
    DistinctPatterns source = cut.source;
    int run = 0;
    int before = columns;
    for (int p = cut.from; p < cut.to; p++) {
      int first = source.first(p, columns);
      if (single != null && source.length(p) == 1) {
        single[first] = 1;
      }
      // Neighbours often begin alike, all of them if A has a column of ones.
      if (first != before) {
        count.getAndAdd(before, run);
        run = 0;
        before = first;
      }
      run++;
    }
    count.getAndAdd(before, run);
  }

  /** Sorts patterns by bucket: a counting sort. */
  private Piece piece(Cut cut, int buckets) {
    DistinctPatterns source = cut.source;
    int size = cut.to - cut.from;
    int[] start = new int[buckets + 1];
    long[] rank = new long[size];
    for (int k = 0; k < size; k++) {
      int p = cut.from + k;
      rank[k] = rank(source.first(p, columns), source.hash()[p]);
      start[(int) (rank[k] >>> shift) + 1]++;
    }
    for (int b = 0; b < buckets; b++) {
      start[b + 1] += start[b];
    }
    int[] from = new int[size];
    int[] length = new int[size];
    long[] multiplicity = new long[size];
    long[] hash = new long[size];
    char[] cell = new char[size];
    for (int k = 0; k < size; k++) {
      int p = cut.from + k;
      int q = start[(int) (rank[k] >>> shift)]++;
      from[q] = source.start()[p];
      length[q] = source.length(p);
      multiplicity[q] = source.multiplicity()[p];
      hash[q] = source.hash()[p];
      cell[q] = (char) (rank[k] & (1 << shift) - 1);
    }
    System.arraycopy(start, 0, start, 1, buckets);
    start[0] = 0;
    return new Piece(start, source.column(), from, length, multiplicity, hash, cell);
  }

  /**
   * A number that does not descend in the order of least column and hash: the place of the column's
   * patterns, and among them the one that falls to a uniform hash.
   */
  private long rank(int first, long hash) {
    long count = place[first + 1] - place[first] - (single != null && first < columns ? 1 : 0);
    long high = (hash >>> 32 ^ 0x80000000L) & 0xffffffffL;
    return place[first] + (high * count >>> 32);
  }

  /**
   * The ridge rows of a bucket that are no patterns by themselves: column, and rank in the bucket.
   */
  private int[] ridgeOf(int b) {
    if (single == null) {
      return new int[0];
    }
    long base = (long) b << shift;
    int low = 0;
    int high = columns;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (place[middle + 1] - 1 < base) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    int[] found = new int[16];
    int size = 0;
    for (int j = low; j < columns && place[j + 1] - 1 < base + (1L << shift); j++) {
      if (single[j] == 0) {
        if (size == found.length) {
          found = Arrays.copyOf(found, 2 * size);
        }
        found[size++] = j;
        found[size++] = (int) (place[j + 1] - 1 - base);
      }
    }
    return Arrays.copyOf(found, size);
  }

  /** Number of distinct patterns, without the ridge's. */
  long patterns() {
    return Arrays.stream(bucket).mapToLong(PatternBucket::patterns).sum();
  }

  /** Number of their entries. */
  long entries() {
    return Arrays.stream(bucket).mapToLong(PatternBucket::entries).sum();
  }

  /** Sum of their squared lengths. */
  double squares() {
    return Arrays.stream(bucket).mapToDouble(PatternBucket::squares).sum();
  }

  /**
   * Rejects a pattern too large for arrays.
   *
   * @throws IndexOverflowException naming the limit
   */
  static void requireIndexable(long patterns, long entries) {
    if (patterns > Integer.MAX_VALUE - 8) {
      throw new IndexOverflowException(
          "%,d distinct row patterns: the limit is 2^31".formatted(patterns), "patterns", patterns);
    }
    if (entries > Integer.MAX_VALUE - 8) {
      throw new IndexOverflowException(
          "the distinct row patterns have %,d entries: the limit is 2^31".formatted(entries),
          "pattern entries",
          entries);
    }
  }

  /**
   * The whole pattern; only once.
   *
   * @throws IndexOverflowException if it does not fit in an array
   */
  Merged merged() {
    int[] patternAt = new int[bucket.length + 1];
    int[] entryAt = new int[bucket.length + 1];
    long patterns = 0;
    long entries = 0;
    long sum = 0;
    for (int b = 0; b < bucket.length; b++) {
      patterns += bucket[b].rows();
      entries += bucket[b].rowEntries();
      requireIndexable(patterns, entries);
      patternAt[b + 1] = (int) patterns;
      entryAt[b + 1] = (int) entries;
      sum += bucket[b].sum();
    }
    // Zeroing arrays of this size takes as long as filling them, so each has a thread.
    var array = new Object[3];
    int[] size = {(int) patterns + 1, (int) patterns, (int) entries};
    Parallel.loop(
        3, 1, threads, (k, next, t) -> array[k] = k < 2 ? new long[size[k]] : new int[size[k]]);
    long[] start = (long[]) array[0];
    long[] multiplicity = (long[]) array[1];
    int[] column = (int[]) array[2];
    Parallel.loop(
        bucket.length,
        1,
        threads,
        (b, next, thread) -> {
          bucket[b].copy(start, multiplicity, column, patternAt[b], entryAt[b]);
          bucket[b] = null;
        });
    return new Merged(new SparsityPattern(columns, start, column, multiplicity), sum);
  }

  /** Frames of sorted patterns. */
  static List<byte[]> frames(int reducer, Patterns sorted) {
    var frames = new ArrayList<byte[]>();
    for (int from = 0; from < sorted.count(); ) {
      int to = PatternCodec.end(sorted, from);
      frames.add(PatternCodec.encode(reducer, sorted, from, to));
      from = to;
    }
    return frames;
  }
}
