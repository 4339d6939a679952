/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.dense;

import io.sparqr.symbolic.FrontMemory;
import io.sparqr.threads.Crew;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.DoubleConsumer;

/**
 * QR of a front with far more rows than columns, with rows added in ascending order of leftmost
 * column: each chunk of rows is stacked under the triangle of the earlier rows and merged into it
 * (the flat tree of TSQR: Demmel, Grigori, Hoemmen, Langou 2012). The triangle stays in place, and
 * copies are made only while it has holes, as after a first chunk of few rows. Memory is the
 * triangle and one chunk for any number of rows. No rank detection: every step is orthogonal, norms
 * are preserved, and the squares of eliminated right-hand sides are summed.
 */
public final class TallQr {

  /** Columns copied or cleared at a time. */
  private static final int STRIP = 32;

  /** A copy of fewer entries is not worth waking other threads. */
  private static final long SHARED_ENTRIES = 1 << 17;

  /** Bytes and rows of a chunk of {@link #cachedCapacity}. */
  private static final long CACHED_BYTES = 1 << 20;

  private static final long CACHED_ROWS = 2048;

  private final StaircaseQr general;
  private final StackedQr stacked;
  private final int columns;
  private final int width;
  private final int capacity;
  private final double[] residual;

  /** columns x width, column-major. */
  private final double[] triangle;

  private final int ldt;

  /** Size n; the leftmost column of each row of the triangle. */
  private final int[] leftmost;

  private int held;

  /** capacity x width, column-major, zero below the added rows. */
  private double[] chunk;

  private final int ld;
  private final int[] left;
  private int count;
  private double flops;

  private boolean keeps;

  /** If Q is kept: blocks so far, the number of each row of the triangle, rows so far. */
  private final List<ReflectorBlock> blocks = new ArrayList<>();

  private final List<ChunkedProduct.Chunk> chunks = new ArrayList<>();

  private int[] number = {};
  private int seen;

  /**
   * Starts without rows.
   *
   * @param kernels gemm
   * @param columns of the matrix
   * @param further right-hand sides
   * @param capacity rows of a chunk, more than columns
   */
  public TallQr(DenseKernels kernels, int columns, int further, int capacity) {
    if (capacity <= columns) {
      throw new IllegalArgumentException("capacity " + capacity + " for " + columns + " columns");
    }
    this.general = new StaircaseQr(kernels);
    this.stacked = new StackedQr(kernels);
    this.columns = columns;
    this.width = columns + further;
    this.capacity = capacity;
    this.residual = new double[further];
    this.ldt = leadingDimension(columns);
    this.ld = leadingDimension(capacity);
    this.triangle = new double[Math.toIntExact(StaircaseQr.length(ldt, width))];
    this.chunk = new double[Math.toIntExact(StaircaseQr.length(ld, width))];
    this.leftmost = new int[columns];
    this.left = new int[capacity];
  }

  /**
   * Rows of a chunk for a front of that size: {@link FrontMemory#tallRows}, limited by an array's
   * size.
   */
  public static int capacity(int columns, int further) {
    long most = (Integer.MAX_VALUE - 8L) / (columns + further + 1L) - 8;
    return (int) Math.min(FrontMemory.tallRows(columns, further), most);
  }

  /**
   * Rows of a chunk that stays in a core's second cache, for one thread alone: single reflectors
   * pass over it more often than they compute. At least a quarter more than columns.
   */
  static int cachedCapacity(int columns) {
    long rows = Math.min(CACHED_ROWS, FrontMemory.tallRows(columns, 0, CACHED_BYTES));
    return (int) Math.min(capacity(columns, 0), Math.max(rows, columns + columns / 4 + 1L));
  }

  /** Leading dimensions that are multiples of 4096 bytes thrash the cache. */
  private static int leadingDimension(int rows) {
    return rows > 0 && rows % 512 == 0 ? rows + 8 : rows;
  }

  /** Keeps Q; rows are numbered in order of arrival. To be called before the first row. */
  public void keepReflectors() {
    keeps = true;
    number = new int[columns];
  }

  /** Sets the listener to the fraction of a chunk's reduction done. */
  public void heardBy(DoubleConsumer listener) {
    general.heardBy(listener);
    stacked.heardBy(listener);
  }

  /** Whether the chunk is full, so that {@link #reduce} must precede the next row. */
  public boolean isFull() {
    return count == (held == columns ? capacity : capacity - held);
  }

  /**
   * Makes room for one more row, all zero.
   *
   * @param first its leftmost column, {@code columns} if it has no entry; no less than the last
   *     row's
   * @return index of its column 0 in {@link #chunk()}; the others follow at a distance of {@link
   *     #ld()}
   */
  public int open(int first) {
    if (isFull() || count > 0 && left[count - 1] > first) {
      throw new IllegalStateException("row " + count + " from column " + first + " on");
    }
    left[count] = first;
    return count++;
  }

  /** The rows added since the last reduction, column-major, right-hand sides last. */
  public double[] chunk() {
    return chunk;
  }

  /** Leading dimension of the chunk. */
  public int ld() {
    return ld;
  }

  /** Merges the added rows into the triangle. */
  public void reduce(Crew crew) {
    int[] stair = new int[columns];
    if (held == columns) {
      stairOf(left, count, stair);
      StackedQr.PanelSink sink = keeps ? this::keep : panel -> {};
      int further = width - columns;
      flops += stacked.factor(triangle, ldt, chunk, ld, columns, further, stair, sink, crew);
      TallReducer.addSquares(chunk, ld, 0, count, columns, residual);
      clear(count, crew);
    } else {
      reduceTrapezoid(stair, crew);
    }
    seen += count;
    if (keeps && count > 0) {
      chunks.add(new ChunkedProduct.Chunk(blocks.size(), seen));
    }
    count = 0;
  }

  /** Merges into a triangle with holes, whose rows are interleaved with the new ones. */
  private void reduceTrapezoid(int[] stair, Crew crew) {
    int total = held + count;
    int[] place = merged();
    int[] all = new int[total];
    for (int i = 0; i < total; i++) {
      all[place[i]] = i < held ? leftmost[i] : left[i - held];
    }
    stairOf(all, total, stair);
    if (held > 0) {
      share(crew, total, (from, to) -> interleave(place, from, to));
    }
    int[] pivot = new int[Math.min(columns, total)];
    int kept = general.factor(chunk, ld, columns, width - columns, 0, -1, stair, pivot, crew);
    flops += general.flops();
    TallReducer.addSquares(chunk, ld, kept, total, columns, residual);
    if (keeps) {
      int[] sorted = new int[total];
      for (int i = 0; i < total; i++) {
        sorted[place[i]] = i < held ? number[i] : seen + i - held;
      }
      int[] segments = ReflectorBlock.runs(sorted, total);
      blocks.add(general.reflectors(chunk, ld, kept, stair, pivot, segments));
      System.arraycopy(sorted, 0, number, 0, kept);
    }
    System.arraycopy(pivot, 0, leftmost, 0, kept);
    int[] height = new int[columns];
    stairOf(pivot, kept, height);
    share(
        crew,
        kept,
        (from, to) -> {
          for (int k = from; k < to; k++) {
            int rows = k < columns ? height[k] : kept;
            System.arraycopy(chunk, k * ld, triangle, k * ldt, rows);
          }
        });
    held = kept;
    clear(total, crew);
  }

  /** The merged place of each row of the triangle, then of each added row, by leftmost column. */
  private int[] merged() {
    int[] place = new int[held + count];
    int i = 0;
    int j = 0;
    while (i + j < place.length) {
      if (j == count || i < held && leftmost[i] <= left[j]) {
        place[i] = i + j;
        i++;
      } else {
        place[held + j] = i + j;
        j++;
      }
    }
    return place;
  }

  /** stair[k] := rows whose leftmost column, ascending, is at most k. */
  private static void stairOf(int[] first, int rows, int[] stair) {
    int i = 0;
    for (int k = 0; k < stair.length; k++) {
      while (i < rows && first[i] <= k) {
        i++;
      }
      stair[k] = i;
    }
  }

  private void interleave(int[] place, int from, int to) {
    double[] old = new double[count];
    for (int k = from; k < to; k++) {
      int at = k * ld;
      System.arraycopy(chunk, at, old, 0, count);
      for (int i = 0; i < held; i++) {
        chunk[at + place[i]] = triangle[i + k * ldt];
      }
      for (int j = 0; j < count; j++) {
        chunk[at + place[held + j]] = old[j];
      }
    }
  }

  private void clear(int rows, Crew crew) {
    share(
        crew,
        rows,
        (from, to) -> {
          for (int k = from; k < to; k++) {
            Arrays.fill(chunk, k * ld, k * ld + rows, 0);
          }
        });
  }

  /** Runs an action on all columns, a few at a time. */
  private void share(Crew crew, int height, Columns action) {
    int pieces = (width + STRIP - 1) / STRIP;
    ((long) height * width < SHARED_ENTRIES ? Crew.ALONE : crew)
        .run(pieces, p -> action.run(p * STRIP, Math.min((p + 1) * STRIP, width)));
  }

  private interface Columns {
    void run(int from, int to);
  }

  /**
   * Keeps a panel's reflectors: rows of the triangle upwards from its last pivot, then the chunk's.
   */
  private void keep(StackedPanel panel) {
    int wide = panel.width;
    int[] rows = new int[wide + panel.rows];
    for (int j = 0; j < wide; j++) {
      rows[wide - 1 - j] = number[panel.from + j];
    }
    for (int i = 0; i < panel.rows; i++) {
      rows[wide + i] = seen + i;
    }
    int kept = 0;
    int values = 0;
    int[] first = new int[wide];
    int[] length = new int[wide];
    double[] tau = new double[wide];
    for (int j = 0; j < wide; j++) {
      if (panel.tau[j] != 0) {
        first[kept] = wide - 1 - j;
        length[kept] = 1 + j + panel.height(j);
        tau[kept] = panel.tau[j];
        values = Math.addExact(values, length[kept++] - 1);
      }
    }
    double[] v = new double[values];
    int to = 0;
    for (int j = 0; j < wide; j++) {
      if (panel.tau[j] != 0) {
        int height = panel.height(j);
        System.arraycopy(chunk, (panel.from + j) * ld, v, to + j, height);
        to += j + height;
      }
    }
    blocks.add(
        new ReflectorBlock(
            ReflectorBlock.runs(rows, rows.length),
            Arrays.copyOf(first, kept),
            Arrays.copyOf(length, kept),
            Arrays.copyOf(tau, kept),
            v));
  }

  /** Releases the chunk; no more rows can be added. */
  public void close() {
    chunk = new double[0];
  }

  /**
   * The upper trapezoid of all rows so far, column-major, right-hand sides last: {@link #held}
   * rows, zero below them.
   */
  public double[] triangle() {
    return triangle;
  }

  /** Leading dimension of the triangle. */
  public int triangleLd() {
    return ldt;
  }

  /** Rows of the triangle, at most columns. */
  public int held() {
    return held;
  }

  /** Size columns: rows of each column of the triangle. */
  public int[] staircase() {
    int[] stair = new int[columns];
    stairOf(leftmost, held, stair);
    return stair;
  }

  /** The reflectors of the reductions so far, acting on rows by their numbers. */
  public List<ReflectorBlock> reflectors() {
    return blocks;
  }

  /** Where each reduction's rows and reflectors end, if Q is kept. */
  List<ChunkedProduct.Chunk> chunks() {
    return chunks;
  }

  /** Numbers of the triangle's rows. */
  public int[] numbers() {
    return Arrays.copyOf(number, held);
  }

  /** Size further: squares of the right-hand sides eliminated so far. */
  public double[] residualSquares() {
    return residual;
  }

  /** Floating-point operations so far. */
  public double flops() {
    return flops;
  }
}
