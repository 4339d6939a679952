/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.pattern;

import io.sparqr.spark.wire.PatternCodec;
import io.sparqr.spark.wire.PatternCodec.Patterns;
import io.sparqr.threads.Parallel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.BiConsumer;

/**
 * Distinct row patterns in any order, as the driver merges them ({@link PatternOrder}). The arrays
 * may be longer than needed.
 *
 * @param count number of patterns
 * @param start size at least count+1; offsets into column
 * @param column ascending in each pattern
 * @param multiplicity size at least count
 * @param hash size at least count; {@link PatternTable#hash} of each
 */
record DistinctPatterns(int count, int[] start, int[] column, long[] multiplicity, long[] hash) {

  /** The patterns of a frame. O(entries). */
  static DistinctPatterns of(Patterns p) {
    long[] hash = new long[p.count()];
    for (int k = 0; k < hash.length; k++) {
      hash[k] = PatternTable.hash(p.column(), p.start()[k], p.start()[k + 1]);
    }
    return new DistinctPatterns(hash.length, p.start(), p.column(), p.multiplicity(), hash);
  }

  /**
   * The patterns of frames, each decoded by one thread.
   *
   * @param frames each replaced by null once it is decoded
   */
  static List<DistinctPatterns> decoded(List<byte[]> frames, int threads) {
    var decoded = new DistinctPatterns[frames.size()];
    Parallel.loop(
        decoded.length,
        1,
        threads,
        (k, next, thread) -> decoded[k] = of(PatternCodec.decode(frames.set(k, null))));
    return new ArrayList<>(Arrays.asList(decoded));
  }

  /**
   * The patterns in parts by equal ranges of their hashes, in their order; O(entries).
   *
   * @param to receives a part and its number, unless it is empty
   */
  void cut(int parts, BiConsumer<Integer, Patterns> to) {
    int[] end = new int[parts];
    for (int p = 0; p < count; p++) {
      end[partOf(hash[p], parts)]++;
    }
    for (int k = 1; k < parts; k++) {
      end[k] += end[k - 1];
    }
    int[] byPart = new int[count];
    int[] at = end.clone();
    for (int p = count - 1; p >= 0; p--) {
      byPart[--at[partOf(hash[p], parts)]] = p;
    }
    for (int k = 0; k < parts; k++) {
      if (at[k] < end[k]) {
        to.accept(k, of(byPart, at[k], end[k]));
      }
    }
  }

  private static int partOf(long h, int parts) {
    return (int) Math.floorMod(h >>> 33, (long) parts);
  }

  private Patterns of(int[] numbers, int from, int to) {
    int[] offset = new int[to - from + 1];
    for (int k = 0; k < to - from; k++) {
      offset[k + 1] = offset[k] + length(numbers[from + k]);
    }
    var out = new Patterns(new long[to - from], offset, new int[offset[to - from]]);
    for (int k = 0; k < to - from; k++) {
      int p = numbers[from + k];
      out.multiplicity()[k] = multiplicity[p];
      System.arraycopy(column, start[p], out.column(), offset[k], length(p));
    }
    return out;
  }

  /** Bytes of the arrays. */
  long bytes() {
    return 4L * start.length + 4L * column.length + 8L * multiplicity.length + 8L * hash.length;
  }

  /** Length of a pattern. */
  int length(int p) {
    return start[p + 1] - start[p];
  }

  /** The least column of a pattern, {@code none} if it is empty. */
  int first(int p, int none) {
    return start[p] == start[p + 1] ? none : column[start[p]];
  }
}
