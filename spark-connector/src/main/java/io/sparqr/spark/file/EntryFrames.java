/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.file;

import io.sparqr.error.SparseQrException;
import io.sparqr.matrix.EntryReader;
import io.sparqr.spark.wire.EntryCodec;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Iterator;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;
import scala.Tuple2;

/**
 * A split of a Matrix Market file as frames of entries, keyed by the range of their rows, followed
 * by its summary with the key {@code ranges.count()}. A malformed line ends the split and is
 * recorded in the summary rather than thrown, because only the driver knows which error is the
 * file's first. At most about 16 MB of entries are held at a time.
 */
final class EntryFrames implements Iterator<Tuple2<Integer, byte[]>> {

  private static final int HELD = 1 << 20;
  private static final int LEAST = 64;
  private static final int MOST = 1 << 13;

  private final int split;
  private final RowRanges ranges;
  private final boolean transpose;
  private final boolean ones;
  private final InputStream stream;
  private final EntryReader reader;

  /** Number of entries before the split. */
  private final long first;

  private final Bucket[] buckets;
  private final int capacity;
  private int current = -1;
  private long currentFirst;
  private long currentEnd;
  private int number;

  /** Ranges with a full bucket to be sent; an entry and its mirror image may fill two. */
  private int full = -1;

  private int alsoFull = -1;
  private int drained = -1;
  private boolean ended;
  private boolean malformed;

  /** Whether there are entries of a symmetric file on this side of the diagonal. */
  private boolean above;

  private boolean below;

  /** Entries of one range, in file order. */
  private static final class Bucket {
    private final int[] row;
    private final int[] column;

    /** Null: all 1. */
    private final double @Nullable [] value;

    private int count;

    Bucket(int capacity, boolean ones) {
      row = new int[capacity];
      column = new int[capacity];
      value = ones ? null : new double[capacity];
    }
  }

  /**
   * Takes a reader and its stream, which is closed at the reader's end.
   *
   * @param split index of the split in frames and summary
   * @param ones whether all values are 1
   */
  EntryFrames(
      InputStream stream,
      EntryReader reader,
      int split,
      RowRanges ranges,
      boolean transpose,
      boolean ones) {
    this.stream = stream;
    this.reader = reader;
    this.split = split;
    this.ranges = ranges;
    this.transpose = transpose;
    this.ones = ones;
    this.first = reader.taken();
    this.buckets = new Bucket[ranges.count()];
    this.capacity = Math.max(LEAST, Math.min(MOST, HELD / ranges.count()));
  }

  @Override
  public boolean hasNext() {
    return drained <= ranges.count();
  }

  @Override
  public Tuple2<Integer, byte[]> next() {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    if (!ended && full < 0) {
      read();
    }
    if (full >= 0) {
      int p = full;
      full = alsoFull;
      alsoFull = -1;
      return frame(p);
    }
    while (++drained < ranges.count()) {
      if (buckets[drained] != null && buckets[drained].count > 0) {
        return frame(drained);
      }
    }
    drained++;
    return new Tuple2<>(
        ranges.count(),
        EntryCodec.encode(
            new EntryCodec.Summary(
                split, reader.taken() - first, reader.lines(), malformed, above, below)));
  }

  /** Reads until a bucket is full or the split is done. */
  private void read() {
    try {
      while (full < 0) {
        if (!reader.next()) {
          ended = true;
          stream.close();
          return;
        }
        put(reader.row(), reader.column(), reader.value());
        if (reader.mirrored()) {
          above |= reader.row() < reader.column();
          below |= reader.row() > reader.column();
          put(reader.column(), reader.row(), reader.mirrorValue());
        }
      }
    } catch (SparseQrException e) {
      ended = true;
      malformed = true;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void put(long fileRow, long fileColumn, double value) {
    long row = transpose ? fileColumn : fileRow;
    if (row < currentFirst || row >= currentEnd || current < 0) {
      current = ranges.of(row);
      currentFirst = ranges.first(current);
      currentEnd = ranges.first(current + 1);
    }
    Bucket b = buckets[current];
    if (b == null) {
      b = new Bucket(capacity, ones);
      buckets[current] = b;
    }
    b.row[b.count] = (int) (row - currentFirst);
    b.column[b.count] = (int) (transpose ? fileRow : fileColumn);
    if (b.value != null) {
      b.value[b.count] = value;
    }
    b.count++;
    // Leaves room for the mirror image.
    if (b.count >= capacity - 1 && current != full) {
      if (full < 0) {
        full = current;
      } else {
        alsoFull = current;
      }
    }
  }

  private Tuple2<Integer, byte[]> frame(int p) {
    Bucket b = buckets[p];
    byte[] bytes = EntryCodec.encode(split, number++, b.row, b.column, b.value, b.count);
    b.count = 0;
    return new Tuple2<>(p, bytes);
  }
}
