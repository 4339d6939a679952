/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.wire;

import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * Distinct row patterns with multiplicities, delta-coded. Frame fields: a = source partition, b =
 * patterns, c = entries. Body, each number in groups of 7 bits, low ones first: for each pattern
 * its multiplicity, its length, its first column minus that of the preceding pattern (zigzag), and
 * for every further column its distance from the preceding one, minus 1. Patterns sorted by first
 * column take 3 bytes each and 1 to 4 for every further entry (a panel of 2.75 million columns: 6.3
 * bytes per pattern of 2 entries); as long and int arrays they would take 12 and 4.
 */
public final class PatternCodec {

  /** Number of entries at which a new frame starts. */
  private static final int FRAME_ENTRIES = 1 << 16;

  private static final int MOST_BYTES = 10;

  private PatternCodec() {}

  /**
   * Some patterns.
   *
   * @param multiplicity size patterns
   * @param start size patterns+1; offsets into column
   * @param column ascending in each pattern
   */
  public record Patterns(long[] multiplicity, int[] start, int[] column) {

    /** Number of patterns. */
    public int count() {
      return multiplicity.length;
    }
  }

  /** Encodes all patterns as one frame. */
  public static byte[] encode(int partition, Patterns p) {
    return encode(partition, p, 0, p.count());
  }

  /** Encodes patterns [from, to) as a frame. */
  public static byte[] encode(int partition, Patterns p, int from, int to) {
    byte[] body = new byte[64];
    int at = 0;
    int before = 0;
    for (int k = from; k < to; k++) {
      int length = p.start[k + 1] - p.start[k];
      long most = at + (long) MOST_BYTES * 3 + 5L * length;
      if (most > body.length) {
        body = Arrays.copyOf(body, (int) Math.min(2 * most, Integer.MAX_VALUE - 8));
      }
      at = Frame.putGroups(body, at, p.multiplicity[k]);
      at = Frame.putGroups(body, at, length);
      for (int e = p.start[k]; e < p.start[k + 1]; e++) {
        if (e == p.start[k]) {
          int step = p.column[e] - before;
          at = Frame.putGroups(body, at, (step << 1 ^ step >> 31) & 0xffffffffL);
          before = p.column[e];
        } else {
          at = Frame.putGroups(body, at, p.column[e] - p.column[e - 1] - 1);
        }
      }
    }
    int entries = p.start[to] - p.start[from];
    ByteBuffer b = Frame.allocate(Frame.Kind.PATTERN, partition, to - from, entries, 0, at);
    return Frame.seal(b.put(body, 0, at));
  }

  /** End of the frame that begins with pattern {@code from}. */
  public static int end(Patterns p, int from) {
    int to = from;
    while (to < p.count() && p.start[to] - p.start[from] + (to - from) < FRAME_ENTRIES) {
      to++;
    }
    return to;
  }

  /**
   * The inverse of {@link #encode}. O(entries).
   *
   * @throws io.sparqr.error.WireFormatException if columns do not ascend or sizes do not match
   */
  public static Patterns decode(byte[] bytes) {
    ByteBuffer b = Frame.open(bytes, Frame.Kind.PATTERN);
    int count = Frame.field(b, 1);
    int entries = Frame.field(b, 2);
    // At least a multiplicity and a length per pattern, and a number per entry.
    Frame.require(count >= 0 && entries >= 0, "sizes of patterns");
    Frame.need(b, 2L * count + entries);
    long[] multiplicity = new long[count];
    int[] start = new int[count + 1];
    int[] column = new int[entries];
    long before = 0;
    for (int k = 0; k < count; k++) {
      multiplicity[k] = Frame.getGroups(b);
      Frame.require(multiplicity[k] > 0, "multiplicities");
      long length = Frame.getGroups(b);
      Frame.require(length >= 0 && length <= entries - start[k], "lengths of patterns");
      start[k + 1] = start[k] + (int) length;
      long c = 0;
      for (int e = start[k]; e < start[k + 1]; e++) {
        long step = Frame.getGroups(b);
        if (e == start[k]) {
          Frame.require(step >>> 32 == 0, "columns");
          before += step >>> 1 ^ -(step & 1);
          c = before;
        } else {
          c += step + 1;
        }
        Frame.require(step >= 0 && c >= 0 && c <= Integer.MAX_VALUE, "columns");
        column[e] = (int) c;
      }
    }
    Frame.require(start[count] == entries, "number of entries");
    Frame.end(b);
    return new Patterns(multiplicity, start, column);
  }
}
