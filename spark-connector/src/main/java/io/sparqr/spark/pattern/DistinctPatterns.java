/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.pattern;

import io.sparqr.spark.wire.PatternCodec;
import io.sparqr.spark.wire.PatternCodec.Patterns;
import io.sparqr.threads.Parallel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

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
