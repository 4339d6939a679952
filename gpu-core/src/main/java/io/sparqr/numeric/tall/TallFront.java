/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.tall;

import io.sparqr.error.DimensionMismatchException;
import io.sparqr.error.IndexOverflowException;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.FrontFactor;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeFactorizer;
import io.sparqr.numeric.dense.DenseKernels;
import io.sparqr.numeric.dense.DenseQr;
import io.sparqr.threads.Crew;
import io.sparqr.threads.Later;
import io.sparqr.threads.Parallel;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * R of a dense m x n matrix by a backend, without Q and without rank detection: its rows are taken
 * a chunk at a time under the triangle of those before (the flat tree of Demmel, Grigori, Hoemmen,
 * Langou 2012), each chunk one front. All chunks have one structure, so a device gets 8 bytes for
 * each entry, and neither m nor the memory of host and device grows with the other.
 *
 * <p>Several lanes take turns: while one is at work, the caller fills the next one's chunk. Each
 * has a triangle of its own, and the triangles are stacked and reduced at the end on the host. The
 * rows' order, the size of a chunk and the number of lanes decide on every bit, besides the
 * backend.
 *
 * <p>2 m n^2 flops, and 2 n^3 / 3 for each chunk. For one thread.
 */
public final class TallFront implements AutoCloseable {

  /** Values that are worth a thread. */
  private static final int COPIED = 1 << 18;

  private final ChunkStructure structure;
  private final FactorOptions options;
  private final Lane[] lanes;
  private int lane;
  private long rows;

  /**
   * Without rows.
   *
   * @param lanes a factorizer for each; closed with this
   * @param columns n, at least 1
   * @param chunkRows rows of a chunk, at least 1
   * @param threads of the host for a chunk
   * @throws IndexOverflowException if a chunk and the triangle do not fit into an array
   */
  public TallFront(List<SubtreeFactorizer> lanes, int columns, int chunkRows, int threads) {
    long values = columns * (columns + 1L) / 2 + (long) chunkRows * columns;
    if (values > Integer.MAX_VALUE - 8L) {
      throw new IndexOverflowException(
          "%d rows of %d columns below a triangle do not fit into an array"
              .formatted(chunkRows, columns),
          "values of a chunk",
          values);
    }
    structure = new ChunkStructure(columns, chunkRows);
    options = new FactorOptions(-1, threads, 0);
    this.lanes = lanes.stream().map(Lane::new).toArray(Lane[]::new);
  }

  /** Rows of a chunk of some doubles: at least as many as columns. */
  public static int chunkRows(int columns, int doubles) {
    return Math.max(columns, doubles / columns);
  }

  /** A triangle and the rows that go under it next. */
  private final class Lane {
    private final SubtreeFactorizer factorizer;
    private final double[] value = new double[structure.values()];
    private int filled;
    private boolean begun;
    private @Nullable Later<Boolean> work;

    Lane(SubtreeFactorizer factorizer) {
      this.factorizer = factorizer;
    }

    boolean isFull() {
      return filled == structure.rows;
    }

    /** The place of its next rows. */
    int place() {
      return structure.triangle + filled * structure.columns;
    }

    void begin() {
      Arrays.fill(value, place(), value.length, 0);
      filled = 0;
      begun = true;
      var next = new Later<>(this::reduce);
      work = next;
      next.begin();
    }

    private boolean reduce() {
      SubtreeFactor factor = factorizer.factor(structure.problem(value), options);
      FrontFactor r = factor.fronts().get(0);
      // Without detection every row of R is there, packed as the triangle is.
      r.values().get(0, value, 0, structure.triangle);
      return true;
    }

    /** Waits for the chunk that is under way, if one is. */
    void await() {
      Later<Boolean> pending = work;
      work = null;
      if (pending != null) {
        pending.get();
      }
    }

    /** The triangle, column-major. */
    double[] triangle() {
      int n = structure.columns;
      double[] r = new double[n * n];
      int at = 0;
      for (int i = 0; i < n; i++) {
        for (int k = i; k < n; k++) {
          r[i + k * n] = value[at++];
        }
      }
      return r;
    }
  }

  /**
   * Adds a row; waits if all lanes are at work.
   *
   * @throws DimensionMismatchException if it is not of size n
   */
  public void row(double[] row) {
    if (row.length != structure.columns) {
      throw new DimensionMismatchException(
          "row %d has %d values, the matrix %d columns"
              .formatted(rows, row.length, structure.columns),
          "row",
          structure.columns,
          row.length);
    }
    rows(row, 0, 1);
  }

  /**
   * Adds rows that lie one after the other.
   *
   * @param a row-major
   * @param from the first value
   * @param count of rows
   */
  public void rows(double[] a, int from, int count) {
    int n = structure.columns;
    int at = from;
    int left = count;
    while (left > 0) {
      Lane mine = lanes[lane];
      mine.await();
      int some = Math.min(left, structure.rows - mine.filled);
      copy(a, at, mine.value, mine.place(), some * n);
      mine.filled += some;
      at += some * n;
      left -= some;
      if (mine.isFull()) {
        mine.begin();
        lane = (lane + 1) % lanes.length;
      }
    }
    rows += count;
  }

  private void copy(double[] from, int at, double[] to, int place, int count) {
    Parallel.loop(
        count,
        COPIED,
        options.threads(),
        (begin, end, t) -> System.arraycopy(from, at + begin, to, place + begin, end - begin));
  }

  /** m so far. */
  public long rows() {
    return rows;
  }

  /**
   * R, n x n, column-major, zero below the diagonal, which is at least 0. No rows may follow.
   *
   * @param kernels for the triangles of several lanes
   */
  public double[] r(DenseKernels kernels) {
    if (lanes[lane].filled > 0) {
      lanes[lane].await();
      lanes[lane].begin();
    }
    for (Lane each : lanes) {
      each.await();
    }
    var made = Arrays.stream(lanes).filter(each -> each.begun).toList();
    int n = structure.columns;
    if (made.size() <= 1) {
      return made.isEmpty() ? new double[n * n] : made.get(0).triangle();
    }
    DenseQr.Builder joined = DenseQr.builder(kernels, n, Crew.ALONE);
    for (Lane each : made) {
      joined.rows(each.triangle(), n, n);
    }
    return joined.factor().r();
  }

  /** Waits for what is under way, and closes the factorizers. */
  @Override
  public void close() {
    for (Lane each : lanes) {
      try {
        each.await();
      } finally {
        each.factorizer.close();
      }
    }
  }
}
