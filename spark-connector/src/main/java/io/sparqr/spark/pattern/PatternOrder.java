/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.pattern;

import io.sparqr.error.IndexOverflowException;
import io.sparqr.error.WireFormatException;
import io.sparqr.spark.wire.PatternCodec;
import io.sparqr.spark.wire.PatternCodec.Patterns;
import io.sparqr.sparse.SparsityPattern;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.PriorityQueue;

/**
 * Merges the reducers' distinct patterns into one that depends on the patterns alone: by least
 * column (none: last), then by hash, then lexicographically. Each reducer has sorted its own
 * ({@link PatternTable#sorted}), so that the driver holds nothing but their frames as they came,
 * delta-coded ({@link PatternCodec}), of each reducer one of them decoded, and the result: 16 bytes
 * a pattern and 4 an entry. Frames are let go as they are read. O(entries + patterns log reducers).
 */
final class PatternOrder {

  private final int columns;
  private final boolean ridge;
  private final PriorityQueue<Cursor> queue = new PriorityQueue<>();

  private long[] start;
  private long[] multiplicity;
  private int[] column;
  private int patterns;
  private int entries;
  private long sum;

  /** The patterns of a reducer, one after the other. */
  private static final class Cursor implements Comparable<Cursor> {
    private final Deque<byte[]> frames;
    private Patterns now;
    private int p;
    private int first = -1;
    private long hash;

    Cursor(List<byte[]> frames) {
      this.frames = new ArrayDeque<>(frames);
      this.now = new Patterns(new long[0], new int[1], new int[0]);
      this.p = -1;
    }

    /** Goes to the next; whether there is one. */
    boolean next() {
      int firstBefore = first;
      long hashBefore = hash;
      p++;
      while (p == now.count()) {
        if (frames.isEmpty()) {
          return false;
        }
        now = PatternCodec.decode(frames.pop());
        p = 0;
      }
      first = from() == to() ? Integer.MAX_VALUE : now.column()[from()];
      hash = PatternTable.hash(now.column(), from(), to());
      if (first < firstBefore || first == firstBefore && hash < hashBefore) {
        throw new WireFormatException("row patterns that are out of order", "patterns");
      }
      return true;
    }

    int from() {
      return now.start()[p];
    }

    int to() {
      return now.start()[p + 1];
    }

    @Override
    public int compareTo(Cursor o) {
      int c = Integer.compare(first, o.first);
      c = c != 0 ? c : Long.compare(hash, o.hash);
      return c != 0
          ? c
          : Arrays.compare(now.column(), from(), to(), o.now.column(), o.from(), o.to());
    }
  }

  private PatternOrder(int columns, boolean ridge) {
    this.columns = columns;
    this.ridge = ridge;
  }

  /**
   * What was merged.
   *
   * @param sum of the patterns' hashes by multiplicity, the ridge's not counted
   */
  record Merged(SparsityPattern pattern, long sum) {}

  /**
   * Refuses what no array can hold.
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
   * The whole pattern.
   *
   * @param parts frames of each reducer, no pattern in two reducers
   * @param patterns of all of them
   * @param entries of all of them
   * @param ridge whether every column gets a further row of its own
   * @throws IndexOverflowException if an array cannot hold it
   */
  static Merged merge(
      List<List<byte[]>> parts, long patterns, long entries, int columns, boolean ridge) {
    long further = ridge ? columns : 0;
    requireIndexable(patterns + further, entries + further);
    var order = new PatternOrder(columns, ridge);
    order.start = new long[(int) (patterns + further) + 1];
    order.multiplicity = new long[(int) (patterns + further)];
    order.column = new int[(int) (entries + further)];
    for (List<byte[]> frames : parts) {
      var cursor = new Cursor(frames);
      if (cursor.next()) {
        order.queue.add(cursor);
      }
    }
    return order.run();
  }

  private Merged run() {
    int bucket = 0;
    boolean missing = ridge;
    while (!queue.isEmpty()) {
      Cursor c = queue.poll();
      int first = Math.min(c.first, columns);
      for (; bucket < first; bucket++) {
        addRidge(bucket, missing);
        missing = ridge;
      }
      long times = c.now.multiplicity()[c.p];
      sum += times * c.hash;
      boolean ridgeToo = missing && c.to() - c.from() == 1;
      missing &= !ridgeToo;
      add(c.now.column(), c.from(), c.to(), ridgeToo ? times + 1 : times);
      if (c.next()) {
        queue.add(c);
      }
    }
    for (; bucket < columns; bucket++) {
      addRidge(bucket, missing);
      missing = ridge;
    }
    return new Merged(
        new SparsityPattern(
            columns,
            cut(start, patterns + 1),
            entries == column.length ? column : Arrays.copyOf(column, entries),
            cut(multiplicity, patterns)),
        sum);
  }

  private static long[] cut(long[] all, int length) {
    return length == all.length ? all : Arrays.copyOf(all, length);
  }

  private void addRidge(int j, boolean missing) {
    if (missing) {
      add(new int[] {j}, 0, 1, 1);
    }
  }

  private void add(int[] from, int begin, int end, long times) {
    if (patterns == multiplicity.length || end - begin > column.length - entries) {
      throw new WireFormatException("more row patterns than were counted", "patterns");
    }
    System.arraycopy(from, begin, column, entries, end - begin);
    entries += end - begin;
    multiplicity[patterns++] = times;
    start[patterns] = entries;
  }

  /** Frames of sorted patterns, as {@link #merge} wants them. */
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
