/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.pattern;

import io.sparqr.error.IndexOverflowException;
import io.sparqr.error.WireFormatException;
import io.sparqr.spark.wire.PatternCodec;
import io.sparqr.spark.wire.PatternCodec.Patterns;
import io.sparqr.sparse.SparsityPattern;
import io.sparqr.threads.Parallel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.PriorityQueue;

/**
 * Merges the reducers' distinct patterns in an order that depends on the patterns alone: by least
 * column (empty patterns last), then by hash, then lexicographically. Each reducer has sorted its
 * own ({@link PatternTable#sorted}). Threads take ranges of least columns; each holds one decoded
 * frame of every reducer ({@link PatternCodec}), and its merged patterns: 16 bytes per pattern and
 * 4 per entry, which exist twice while they are concatenated. O(entries + patterns log reducers).
 */
final class PatternOrder {

  /** A range with fewer patterns is not worth a thread. */
  private static final int LEAST = 1 << 15;

  /** Ranges per thread, to balance unequal ranges. */
  private static final int RANGES_A_THREAD = 4;

  private final int columns;
  private final boolean ridge;

  /** A run of patterns in order, with least columns in [low, high). */
  private final class Piece {
    private final int low;
    private final int high;
    private final PriorityQueue<Cursor> queue = new PriorityQueue<>();

    private long[] start;
    private long[] multiplicity;
    private int[] column;
    private int patterns;
    private int entries;
    private long sum;

    Piece(int low, int high, int patterns, int entries) {
      this.low = low;
      this.high = high;
      start = new long[patterns + 1];
      multiplicity = new long[patterns];
      column = new int[entries];
    }

    void run(List<Frames> parts) {
      for (Frames frames : parts) {
        var cursor = new Cursor(frames, low, high == columns ? Integer.MAX_VALUE : high - 1);
        if (cursor.begin()) {
          queue.add(cursor);
        }
      }
      int bucket = low;
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
      for (; bucket < high; bucket++) {
        addRidge(bucket, missing);
        missing = ridge;
      }
    }

    private void addRidge(int j, boolean missing) {
      if (missing) {
        add(new int[] {j}, 0, 1, 1);
      }
    }

    private void add(int[] from, int begin, int end, long times) {
      int length = end - begin;
      if (patterns == multiplicity.length) {
        int larger = larger(patterns, 1);
        multiplicity = Arrays.copyOf(multiplicity, larger);
        start = Arrays.copyOf(start, larger + 1);
      }
      if (length > column.length - entries) {
        column = Arrays.copyOf(column, larger(entries, length));
      }
      System.arraycopy(from, begin, column, entries, length);
      entries += length;
      multiplicity[patterns++] = times;
      start[patterns] = entries;
    }

    private static int larger(int now, int more) {
      return (int) Math.min(Integer.MAX_VALUE - 8, Math.max(now + (long) more, now + now / 2L));
    }
  }

  /** A reducer's frames, and the least column at which each begins. */
  private record Frames(byte[][] frame, int[] first) {
    static Frames of(List<byte[]> frames) {
      byte[][] frame = frames.toArray(new byte[0][]);
      return new Frames(frame, Arrays.stream(frame).mapToInt(PatternCodec::first).toArray());
    }

    /** The first frame that may have a pattern with this least column or a later one. */
    int before(int column) {
      int k = 0;
      while (k + 1 < frame.length && first[k + 1] < column) {
        k++;
      }
      return k;
    }
  }

  /** The patterns of a reducer, one after the other, over a range of least columns. */
  private static final class Cursor implements Comparable<Cursor> {
    private final byte[][] frames;
    private final int low;
    private final int last;
    private int frame;
    private Patterns now = new Patterns(new long[0], new int[1], new int[0]);
    private int p = -1;
    private int first = -1;
    private long hash;

    Cursor(Frames frames, int low, int last) {
      this.frames = frames.frame;
      this.low = low;
      this.last = last;
      frame = frames.before(low);
    }

    /** Moves to the first pattern; false if there is none. */
    boolean begin() {
      boolean any = next();
      while (any && first < low) {
        any = next();
      }
      return any;
    }

    /** Moves to the next pattern; false if there is none. */
    boolean next() {
      int firstBefore = first;
      long hashBefore = hash;
      p++;
      while (p == now.count()) {
        if (frame == frames.length) {
          return false;
        }
        now = PatternCodec.decode(frames[frame++]);
        p = 0;
      }
      first = from() == to() ? Integer.MAX_VALUE : now.column()[from()];
      hash = PatternTable.hash(now.column(), from(), to());
      if (first < firstBefore || first == firstBefore && hash < hashBefore) {
        throw new WireFormatException("row patterns that are out of order", "patterns");
      }
      return first <= last;
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
   * The result of the merge.
   *
   * @param sum of the patterns' hashes times multiplicity, without the ridge's
   */
  record Merged(SparsityPattern pattern, long sum) {}

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
   * The whole pattern.
   *
   * @param parts frames of each reducer; no pattern occurs in two reducers
   * @param patterns total number
   * @param entries total number
   * @param ridge whether every column has a ridge row
   * @throws IndexOverflowException if it does not fit in an array
   */
  static Merged merge(
      List<List<byte[]>> parts, long patterns, long entries, int columns, boolean ridge) {
    int threads = Runtime.getRuntime().availableProcessors();
    int ranges = (int) Math.min((long) RANGES_A_THREAD * threads, 1 + patterns / LEAST);
    return merge(parts, patterns, entries, columns, ridge, threads, threads == 1 ? 1 : ranges);
  }

  /** The same with about the given number of ranges. */
  static Merged merge(
      List<List<byte[]>> parts,
      long patterns,
      long entries,
      int columns,
      boolean ridge,
      int threads,
      int ranges) {
    long further = ridge ? columns : 0;
    requireIndexable(patterns + further, entries + further);
    List<Frames> frames = parts.stream().map(Frames::of).toList();
    int[] bound = bounds(frames, columns, ranges);
    int pieces = bound.length - 1;
    var order = new PatternOrder(columns, ridge);
    var piece = new Piece[pieces];
    Parallel.loop(
        pieces,
        1,
        threads,
        (from, to, thread) -> {
          for (int k = from; k < to; k++) {
            piece[k] =
                order
                .new Piece(
                    bound[k],
                    bound[k + 1],
                    (int) ((patterns + further) / pieces),
                    (int) ((entries + further) / pieces));
            piece[k].run(frames);
          }
        });
    return joined(piece, patterns + further, entries + further, columns, threads);
  }

  /**
   * Least columns that cut the frames into ranges of about equal size; the first is 0, the last n.
   */
  private static int[] bounds(List<Frames> frames, int columns, int ranges) {
    int[] first =
        frames.stream()
            .flatMapToInt(f -> Arrays.stream(f.first))
            .filter(j -> j > 0 && j < columns)
            .sorted()
            .toArray();
    int[] bound = new int[ranges + 1];
    int count = 1;
    for (int k = 1; k < ranges && first.length > 0; k++) {
      int at = first[(int) ((long) k * first.length / ranges)];
      if (at > bound[count - 1]) {
        bound[count++] = at;
      }
    }
    bound[count] = columns;
    return Arrays.copyOf(bound, count + 1);
  }

  private static Merged joined(
      Piece[] piece, long mostPatterns, long mostEntries, int columns, int threads) {
    long[] patternAt = new long[piece.length + 1];
    long[] entryAt = new long[piece.length + 1];
    long sum = 0;
    for (int k = 0; k < piece.length; k++) {
      patternAt[k + 1] = patternAt[k] + piece[k].patterns;
      entryAt[k + 1] = entryAt[k] + piece[k].entries;
      sum += piece[k].sum;
    }
    long patterns = patternAt[piece.length];
    long entries = entryAt[piece.length];
    if (patterns > mostPatterns || entries > mostEntries) {
      throw new WireFormatException("more row patterns than were counted", "patterns");
    }
    long[] start = new long[(int) patterns + 1];
    long[] multiplicity = new long[(int) patterns];
    int[] column = new int[(int) entries];
    Parallel.loop(
        piece.length,
        1,
        threads,
        (from, to, thread) -> {
          for (int k = from; k < to; k++) {
            Piece p = piece[k];
            int at = (int) patternAt[k];
            System.arraycopy(p.multiplicity, 0, multiplicity, at, p.patterns);
            System.arraycopy(p.column, 0, column, (int) entryAt[k], p.entries);
            for (int i = 1; i <= p.patterns; i++) {
              start[at + i] = entryAt[k] + p.start[i];
            }
            piece[k] = null;
          }
        });
    return new Merged(new SparsityPattern(columns, start, column, multiplicity), sum);
  }

  /** Frames of sorted patterns, in the form for {@link #merge}. */
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
