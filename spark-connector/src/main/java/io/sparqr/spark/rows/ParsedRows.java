/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.rows;

import io.sparqr.spark.plan.Fingerprint;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongPredicate;

/**
 * The rows of positive weight of a partition as a {@link RowReader} has left them, in chunks of
 * primitive arrays: 12 bytes an entry, 4 and 8 per right-hand side a row. Rows are many and unknown
 * in number: chunks that are full stay where they are, so that nothing is copied while they grow.
 */
final class ParsedRows {

  /** Lengths of the first and of the largest chunk. */
  private static final int LEAST = 1 << 8;

  private static final int MOST = 1 << 16;

  private final List<Entries> entries;
  private final List<Heads> heads;
  private final int rhsCount;
  private final Fingerprint fingerprint;
  private final long bytes;

  /** Entries of successive rows, each row in one chunk. */
  private static final class Entries {
    private final int[] index;
    private final double[] value;
    private int used;

    Entries(int size) {
      index = new int[size];
      value = new double[size];
    }

    static long bytes(int size) {
      return 12L * size;
    }
  }

  /** Numbers of entries, and right-hand sides, of successive rows. */
  private static final class Heads {
    private final int[] length;
    private final double[] rhs;
    private int used;

    Heads(int size, int rhsCount) {
      length = new int[size];
      rhs = new double[Math.multiplyExact(size, rhsCount)];
    }

    static long bytes(int size, int rhsCount) {
      return size * (4 + 8L * rhsCount);
    }
  }

  private ParsedRows(Builder rows, Fingerprint fingerprint) {
    this.entries = rows.entries;
    this.heads = rows.heads;
    this.rhsCount = rows.rhsCount;
    this.bytes = rows.bytes;
    this.fingerprint = fingerprint;
  }

  /** Of the reading that these rows come from. */
  Fingerprint fingerprint() {
    return fingerprint;
  }

  /** Bytes of the arrays. */
  long bytes() {
    return bytes;
  }

  /** Collects a reading. Not thread-safe. */
  static final class Builder {
    private final LongPredicate room;
    private final List<Entries> entries = new ArrayList<>();
    private final List<Heads> heads = new ArrayList<>();
    private int rhsCount;
    private long bytes;
    private boolean refused;

    /**
     * Starts without rows.
     *
     * @param room asked before each chunk: takes its bytes, or refuses
     */
    Builder(LongPredicate room) {
      this.room = room;
    }

    /** Adds the reader's row, unless there was no room for one before. */
    void add(RowReader reader) {
      if (refused) {
        return;
      }
      rhsCount = reader.rhsCount();
      int count = reader.count();
      Entries e = entries.isEmpty() ? null : entries.get(entries.size() - 1);
      Heads h = heads.isEmpty() ? null : heads.get(heads.size() - 1);
      if (e == null || e.used + count > e.index.length) {
        e = entries(Math.max(count, e == null ? LEAST : Math.min(MOST, 2 * e.index.length)));
      }
      if (h == null || h.used == h.length.length) {
        h = heads(h == null ? LEAST : Math.min(MOST, 2 * h.length.length));
      }
      if (refused) {
        entries.clear();
        heads.clear();
        return;
      }
      System.arraycopy(reader.index(), 0, e.index, e.used, count);
      System.arraycopy(reader.value(), 0, e.value, e.used, count);
      System.arraycopy(reader.rhs(), 0, h.rhs, h.used * rhsCount, rhsCount);
      e.used += count;
      h.length[h.used++] = count;
    }

    private Entries entries(int size) {
      if (!taken(Entries.bytes(size))) {
        return null;
      }
      var e = new Entries(size);
      entries.add(e);
      return e;
    }

    private Heads heads(int size) {
      if (!taken(Heads.bytes(size, rhsCount))) {
        return null;
      }
      var h = new Heads(size, rhsCount);
      heads.add(h);
      return h;
    }

    private boolean taken(long more) {
      refused = refused || !room.test(more);
      bytes += refused ? 0 : more;
      return !refused;
    }

    /** Whether all rows are here. */
    boolean complete() {
      return !refused;
    }

    /** Bytes taken so far. */
    long bytes() {
      return bytes;
    }

    /** The rows, of a reading with that fingerprint; the builder's last use. */
    ParsedRows rows(Fingerprint fingerprint) {
      return new ParsedRows(this, fingerprint);
    }
  }

  /** The rows, one after the other, into a reader. */
  Cursor cursor() {
    return new Cursor();
  }

  /** A position in the rows. */
  final class Cursor {
    private int head;
    private int row;
    private int chunk;
    private int entry;

    private Cursor() {}

    /** Moves the next row into the reader's arrays; false at the end. */
    boolean next(RowReader reader) {
      if (head < heads.size() && row == heads.get(head).used) {
        head++;
        row = 0;
      }
      if (head == heads.size()) {
        return false;
      }
      Heads h = heads.get(head);
      int count = h.length[row];
      // As they were added: a row that did not fit into a chunk begins the next one.
      while (entry + count > entries.get(chunk).used) {
        chunk++;
        entry = 0;
      }
      Entries e = entries.get(chunk);
      reader.take(e.index, e.value, entry, count);
      reader.takeRhs(h.rhs, row * rhsCount, rhsCount);
      entry += count;
      row++;
      return true;
    }
  }
}
