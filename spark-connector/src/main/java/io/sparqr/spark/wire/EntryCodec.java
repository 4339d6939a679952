/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.wire;

import io.sparqr.matrix.Triplets;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Entries of a file, sent to the partition of their rows. Frame fields: a = split, b = index of the
 * frame within it, c = entries, d = 1 if all values are 1, otherwise 0. Body:
 *
 * <pre>
 * int    row[c]       counted from the partition's first row
 * int    column[c]
 * double value[c]     with d = 0
 * </pre>
 *
 * A frame with d = 2 is the summary of a split: three longs, entries, lines, and a sum of 1 if it
 * is malformed, 2 if a symmetric file has entries above the diagonal in it, 4 if below.
 */
public final class EntryCodec {

  private static final int VALUES = 0;
  private static final int ONES = 1;
  private static final int SUMMARY = 2;

  private EntryCodec() {}

  /**
   * The summary of a split.
   *
   * @param split its index
   * @param entries number of entries read
   * @param lines number of line feeds passed
   * @param malformed whether reading ended with an error
   * @param above whether a symmetric file has entries above the diagonal in it
   * @param below the same for entries below the diagonal
   */
  public record Summary(
      int split, long entries, long lines, boolean malformed, boolean above, boolean below) {}

  /**
   * Encodes the first count entries of three arrays.
   *
   * @param value the values, unless all are 1
   */
  public static byte[] encode(
      int split, int number, int[] row, int[] column, double @Nullable [] value, int count) {
    boolean ones = value == null;
    ByteBuffer frame =
        Frame.allocate(
            Frame.Kind.ENTRIES,
            split,
            number,
            count,
            ones ? ONES : VALUES,
            (ones ? 8L : 16L) * count);
    Frame.putInts(frame, row, 0, count);
    Frame.putInts(frame, column, 0, count);
    if (value != null) {
      Frame.putDoubles(frame, value, 0, count);
    }
    return Frame.seal(frame);
  }

  /** Appends a frame's entries. */
  public static void decode(byte[] bytes, Triplets target) {
    ByteBuffer frame = Frame.open(bytes, Frame.Kind.ENTRIES);
    int count = Frame.field(frame, 2);
    int form = Frame.field(frame, 3);
    Frame.require(form == VALUES || form == ONES, "form of entries");
    int[] row = Frame.getInts(frame, count);
    int[] column = Frame.getInts(frame, count);
    double[] value = form == ONES ? null : Frame.getDoubles(frame, count);
    Frame.end(frame);
    for (int k = 0; k < count; k++) {
      Frame.require((row[k] | column[k]) >= 0, "indices of entries");
    }
    target.addAll(row, column, value);
  }

  /** The split of a frame or summary. */
  public static int split(byte[] bytes) {
    return Frame.peek(bytes, 0);
  }

  /** The order of a frame among the others: split, then index. */
  public static long order(byte[] bytes) {
    return (long) Frame.peek(bytes, 0) << 32 | Frame.peek(bytes, 1);
  }

  /** A summary as a frame. */
  public static byte[] encode(Summary s) {
    ByteBuffer frame = Frame.allocate(Frame.Kind.ENTRIES, s.split, 0, 0, SUMMARY, 24);
    int flags = (s.malformed ? 1 : 0) + (s.above ? 2 : 0) + (s.below ? 4 : 0);
    frame.putLong(s.entries).putLong(s.lines).putLong(flags);
    return Frame.seal(frame);
  }

  /** A summary from its frame. */
  public static Summary decodeSummary(byte[] bytes) {
    ByteBuffer frame = Frame.open(bytes, Frame.Kind.ENTRIES);
    Frame.require(Frame.field(frame, 3) == SUMMARY, "form of a summary");
    long[] found = Frame.getLongs(frame, 3);
    Frame.end(frame);
    Frame.require(found[0] >= 0 && found[1] >= 0 && found[2] >>> 3 == 0, "summary of a split");
    int flags = (int) found[2];
    return new Summary(
        Frame.field(frame, 0),
        found[0],
        found[1],
        (flags & 1) != 0,
        (flags & 2) != 0,
        (flags & 4) != 0);
  }
}
