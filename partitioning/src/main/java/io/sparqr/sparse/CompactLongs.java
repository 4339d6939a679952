/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.sparse;

import java.io.Serializable;
import java.util.Arrays;
import java.util.function.IntToLongFunction;

/**
 * A table of longs, few of them large: cells of 1, 2, 4 or 8 bytes, whichever takes the least
 * memory, and a separate list of the values that do not fit into a cell (12 bytes each). Row counts
 * of columns and flops of fronts then take 1 to 2 bytes per column instead of 8. Immutable; get is
 * O(1), or O(log of the list's size) for a value in the list.
 */
public final class CompactLongs implements Serializable {

  private static final long serialVersionUID = 1;
  private static final int LISTED_BYTES = Integer.BYTES + Long.BYTES;

  private final int size;

  /** Bytes per cell: 1, 2, 4 or 8. */
  private final int width;

  /**
   * An array of {@code size} cells, its type given by the width; all bits set: look in the list.
   */
  private final Object cells;

  /** Ascending. */
  private final int[] index;

  private final long[] value;

  /**
   * Takes the arrays without copying them.
   *
   * @param cells byte[], short[], int[] or long[]: a cell with all bits set is in the list, the
   *     others are unsigned (in long[]: signed, with no list)
   * @param index ascending; the cells with all bits set
   * @param value their values
   * @throws IllegalArgumentException if cells and list do not belong together
   */
  public CompactLongs(Object cells, int[] index, long[] value) {
    this.cells = cells;
    this.index = index;
    this.value = value;
    if (cells instanceof byte[] c) {
      width = 1;
      size = c.length;
    } else if (cells instanceof short[] c) {
      width = 2;
      size = c.length;
    } else if (cells instanceof int[] c) {
      width = 4;
      size = c.length;
    } else {
      width = 8;
      size = ((long[]) cells).length;
    }
    int listed = 0;
    for (int k = 0; k < size && width < 8; k++) {
      if (cell(k) == none(width)) {
        if (listed == index.length || index[listed] != k) {
          throw new IllegalArgumentException("value " + k + " is in no list");
        }
        listed++;
      }
    }
    if (listed != index.length || index.length != value.length) {
      throw new IllegalArgumentException("a list of values that are not cells");
    }
  }

  /** Packs the values of an array. O(size). */
  public static CompactLongs of(long[] values) {
    return of(values.length, k -> values[k]);
  }

  /**
   * Packs the values of a function, which is evaluated twice. O(size).
   *
   * @param values defined on 0 .. size-1
   */
  public static CompactLongs of(int size, IntToLongFunction values) {
    int[] width = {1, 2, 4};
    int[] listed = new int[width.length];
    for (int k = 0; k < size; k++) {
      long v = values.applyAsLong(k);
      for (int w = 0; w < width.length; w++) {
        listed[w] += v < 0 || v >= none(width[w]) ? 1 : 0;
      }
    }
    int best = Long.BYTES;
    int count = 0;
    long bytes = (long) Long.BYTES * size;
    for (int w = width.length - 1; w >= 0; w--) {
      long needed = (long) width[w] * size + (long) LISTED_BYTES * listed[w];
      if (needed <= bytes) {
        bytes = needed;
        best = width[w];
        count = listed[w];
      }
    }
    return fill(size, values, best, count);
  }

  private static CompactLongs fill(int size, IntToLongFunction values, int width, int listed) {
    Object cells = cells(width, size);
    int[] index = new int[listed];
    long[] value = new long[listed];
    int at = 0;
    for (int k = 0; k < size; k++) {
      long v = values.applyAsLong(k);
      if (width < Long.BYTES && (v < 0 || v >= none(width))) {
        index[at] = k;
        value[at++] = v;
        v = none(width);
      }
      switch (width) {
        case 1 -> ((byte[]) cells)[k] = (byte) v;
        case 2 -> ((short[]) cells)[k] = (short) v;
        case 4 -> ((int[]) cells)[k] = (int) v;
        default -> ((long[]) cells)[k] = v;
      }
    }
    return new CompactLongs(cells, index, value);
  }

  private static Object cells(int width, int size) {
    return switch (width) {
      case 1 -> new byte[size];
      case 2 -> new short[size];
      case 4 -> new int[size];
      default -> new long[size];
    };
  }

  /** The cell that means "in the list". */
  private static long none(int width) {
    return (1L << 8 * width) - 1;
  }

  private long cell(int k) {
    return switch (width) {
      case 1 -> ((byte[]) cells)[k] & 0xffL;
      case 2 -> ((short[]) cells)[k] & 0xffffL;
      case 4 -> ((int[]) cells)[k] & 0xffffffffL;
      default -> ((long[]) cells)[k];
    };
  }

  /** Number of values. */
  public int size() {
    return size;
  }

  /** Value k, from 0. O(1). */
  public long get(int k) {
    long v = cell(k);
    return width < Long.BYTES && v == none(width) ? value[Arrays.binarySearch(index, k)] : v;
  }

  /** The sum of a range; wraps on overflow. O(size). */
  public long sum(int from, int to) {
    long sum = 0;
    for (int k = from; k < to; k++) {
      sum += get(k);
    }
    return sum;
  }

  /** The cells: byte[], short[], int[] or long[]; not to be written to. */
  public Object cells() {
    return cells;
  }

  /** Which values are in the list; not to be written to. */
  public int[] listed() {
    return index;
  }

  /** The values of the list; not to be written to. */
  public long[] listedValues() {
    return value;
  }

  /** Memory in bytes. */
  public long bytes() {
    return (long) width * size + (long) LISTED_BYTES * index.length;
  }
}
