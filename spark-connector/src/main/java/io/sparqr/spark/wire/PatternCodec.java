/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.wire;

import java.nio.ByteBuffer;

/**
 * Distinct row patterns with multiplicities. Frame fields: a = source partition, b = patterns, c =
 * entries. Body: long multiplicity[b], int length[b], int column[c].
 */
public final class PatternCodec {

  private PatternCodec() {}

  /**
   * Some patterns.
   *
   * @param multiplicity size patterns
   * @param start size patterns+1; offsets into column
   * @param column ascending in each pattern
   */
  public record Patterns(long[] multiplicity, int[] start, int[] column) {}

  /** Bytes of a frame. */
  public static long bytes(long patterns, long entries) {
    return Frame.HEADER + 12 * patterns + 4 * entries;
  }

  /** As a frame. */
  public static byte[] encode(int partition, Patterns p) {
    int count = p.multiplicity.length;
    int entries = p.start[count];
    ByteBuffer b =
        Frame.allocate(
            Frame.Kind.PATTERN, partition, count, entries, 0, bytes(count, entries) - Frame.HEADER);
    Frame.putLongs(b, p.multiplicity, count);
    for (int k = 0; k < count; k++) {
      b.putInt(p.start[k + 1] - p.start[k]);
    }
    Frame.putInts(b, p.column, 0, entries);
    return Frame.seal(b);
  }

  /**
   * The inverse of {@link #encode}. O(entries).
   *
   * @throws io.sparqr.error.WireFormatException if columns do not ascend or sizes do not fit
   */
  public static Patterns decode(byte[] bytes) {
    ByteBuffer b = Frame.open(bytes, Frame.Kind.PATTERN);
    int count = Frame.field(b, 1);
    int entries = Frame.field(b, 2);
    long[] multiplicity = Frame.getLongs(b, count);
    int[] length = Frame.getInts(b, count);
    int[] start = new int[count + 1];
    for (int k = 0; k < count; k++) {
      Frame.require(length[k] >= 0 && length[k] <= entries - start[k], "lengths of patterns");
      start[k + 1] = start[k] + length[k];
    }
    Frame.require(start[count] == entries, "number of entries");
    int[] column = Frame.getInts(b, entries);
    Frame.end(b);
    for (int k = 0; k < count; k++) {
      Frame.require(multiplicity[k] > 0, "multiplicities");
      int last = -1;
      for (int e = start[k]; e < start[k + 1]; e++) {
        Frame.require(column[e] > last, "columns");
        last = column[e];
      }
    }
    return new Patterns(multiplicity, start, column);
  }
}
