/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.matrix;

import io.sparqr.error.IndexOverflowException;
import io.sparqr.error.MatrixFormatException;
import java.io.IOException;
import java.util.Arrays;

/**
 * Finds entries of a symmetric file that are stored at (i, j) and at (j, i) too. Each of them
 * stands for both places, so reading both would double the value: such a file was written as if it
 * were general. A file may hold some entries above and others below the diagonal, as lists of edges
 * do, as long as no pair is stored in both ways. 8 bytes an entry off the diagonal; O(e log e) and
 * 8 bytes more if there are entries on both sides of the diagonal. Not thread-safe.
 */
public final class SymmetricHalves {

  private static final int MOST = Integer.MAX_VALUE - 16;

  private final int parts;
  private final int part;
  private long[] key = new long[1 << 8];
  private int count;
  private boolean above;
  private boolean below;

  /** Where the line of an entry is not the one after the line of the entry before it. */
  private long[] jumpLine = new long[8];

  private int[] jumpEntry = new int[8];
  private int jumps;
  private long lastLine = Long.MIN_VALUE;

  /** Looks at all entries. */
  public SymmetricHalves() {
    this(1, 0);
  }

  /** Looks at one of several parts of the entries, to bound the memory; pairs are in one part. */
  private SymmetricHalves(int parts, int part) {
    this.parts = parts;
    this.part = part;
  }

  /** A file that can be read several times. */
  public interface Reopened {
    /** Opens the file, passes all its entries on and closes it. */
    void read(SymmetricHalves to) throws IOException;
  }

  /** Takes all entries of a reader. */
  public void addAll(EntryReader reader) throws IOException {
    while (reader.next()) {
      add(reader.row(), reader.column(), reader.line());
    }
  }

  /**
   * Takes an entry in file order; those on the diagonal do not count.
   *
   * @param row below 2^31, because the matrix is square
   */
  public void add(long row, int column, long line) {
    if (row == column) {
      return;
    }
    boolean up = row < column;
    long low = up ? row : column;
    long high = up ? column : row;
    if (parts > 1 && part(low, high) != part) {
      return;
    }
    above |= up;
    below |= !up;
    if (count == key.length) {
      if (count == MOST) {
        throw new IndexOverflowException(
            "more than " + MOST + " entries of a symmetric file in one JVM", "entries", count);
      }
      key = Arrays.copyOf(key, (int) Math.min(MOST, 2L * count));
    }
    if (line != lastLine + 1) {
      jump(line);
    }
    lastLine = line;
    key[count++] = low << 32 | high << 1 | (up ? 1 : 0);
  }

  private int part(long low, long high) {
    return (int) Long.remainderUnsigned((low * 0x9e3779b97f4a7c15L) ^ high, parts);
  }

  private void jump(long line) {
    if (jumps == jumpLine.length) {
      jumpLine = Arrays.copyOf(jumpLine, 2 * jumps);
      jumpEntry = Arrays.copyOf(jumpEntry, 2 * jumps);
    }
    jumpEntry[jumps] = count;
    jumpLine[jumps++] = line;
  }

  /**
   * Refuses a file in which some entry is stored in both ways.
   *
   * @throws MatrixFormatException naming the entry of the least row, and both lines
   */
  public void requireOne(String source) {
    if (!above || !below) {
      return;
    }
    long[] sorted = Arrays.copyOf(key, count);
    Arrays.sort(sorted);
    for (int k = 1; k < count; k++) {
      if (sorted[k] == sorted[k - 1] + 1 && (sorted[k] & 1) == 1) {
        throw both(source, sorted[k]);
      }
    }
  }

  private MatrixFormatException both(String source, long upper) {
    long up = 0;
    long down = 0;
    for (int k = count - 1; k >= 0; k--) {
      up = key[k] == upper ? line(k) : up;
      down = key[k] == upper - 1 ? line(k) : down;
    }
    long i = (upper >>> 32) + 1;
    long j = ((upper & 0xffffffffL) >>> 1) + 1;
    long later = Math.max(up, down);
    String second = up > down ? place(i, j) : place(j, i);
    String first = up > down ? place(j, i) : place(i, j);
    return new MatrixFormatException(
        source
            + ":"
            + later
            + ": entry "
            + second
            + " of a symmetric file, which stands for "
            + first
            + " too, but line "
            + Math.min(up, down)
            + " holds that one: store one of the two, or call the file general",
        source,
        later);
  }

  private static String place(long i, long j) {
    return "(" + i + ", " + j + ")";
  }

  private long line(int entry) {
    int at = Arrays.binarySearch(jumpEntry, 0, jumps, entry);
    int j = at >= 0 ? at : -at - 2;
    return jumpLine[j] + (entry - jumpEntry[j]);
  }

  /**
   * {@link #requireOne} for a file that can be read again, in as many passes as its entries need
   * for an eighth of the heap.
   *
   * @param entries of the file
   */
  public static void requireOne(Reopened file, long entries, String source) throws IOException {
    long most = Math.max(1 << 20, Runtime.getRuntime().maxMemory() / (8 * 3 * Long.BYTES));
    requireOne(file, (int) Math.min(1 << 16, (entries + most - 1) / most), source);
  }

  /** In the given number of passes. */
  static void requireOne(Reopened file, int parts, String source) throws IOException {
    for (int part = 0; part < parts; part++) {
      var halves = new SymmetricHalves(parts, part);
      file.read(halves);
      halves.requireOne(source);
    }
  }
}
